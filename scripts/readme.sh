#!/usr/bin/env bash
# Runs the example of the README as it stands there.
set -euo pipefail
cd "$(dirname "$0")/.."
example=packages/memory/examples/readme.tmp.ts
trap 'rm -f "$example"' EXIT
sed -n '/^```ts$/,/^```$/p' README.md | sed '1d;$d' >"$example"
output=$(npx tsx "$example")
wanted=$(sed -n 's/.*console\.log(.*) \/\/ //p' README.md)
[ "$output" = "$wanted" ] || { echo "the README's example printed $output, not $wanted"; exit 1; }
