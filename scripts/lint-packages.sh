#!/usr/bin/env bash
# Builds and packs every package as it would be published, and checks what is in it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

npx tsc -b tsconfig.base.json
for package in packages/*/; do
  echo "# $package"
  (cd "$package" && rm -rf dist && npm run --silent build && npx --yes pnpm@10.34.9 pack --pack-destination "$out" >/dev/null)
  tarball=$(ls -t "$out"/*.tgz | head -n 1)
  "$root"/node_modules/.bin/publint --strict "$tarball"
  "$root"/node_modules/.bin/attw --quiet --profile esm-only "$tarball"
  rm "$tarball"
done
