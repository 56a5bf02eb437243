#!/usr/bin/env bash
# Runs the examples of all READMEs that say behind `//` what they print.
set -euo pipefail
cd "$(dirname "$0")/.."
examples=()
trap 'rm -f "${examples[@]}"' EXIT
for readme in README.md packages/*/README.md; do
  package=$(dirname "$readme")
  [ "$package" = . ] && package=packages/memory
  count=$(grep -c '^```ts$' "$readme" || true)
  for ((n = 1; n <= count; n++)); do
    example=$package/readme-$n.tmp.ts
    examples+=("$example")
    awk -v n="$n" '/^```ts$/ { block++; next } /^```$/ { inside = 0; if (block == n) exit } block == n' "$readme" >"$example"
    grep -qE 'console\.log.*\) // ' "$example" || continue
    output=$(npx tsx "$example")
    wanted=$(sed -n 's/.*console\.log) *\/\/ //p; s/.*console\.log(.*) \/\/ //p' "$example")
    [ "$output" = "$wanted" ] || { echo "example $n of $readme printed $output, not $wanted"; exit 1; }
    rm "$example"
  done
done
