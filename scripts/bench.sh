#!/usr/bin/env bash
# Runs benchmarks, all of them or those that are named, as JavaScript like that which is published: what runs TypeScript
# directly gives each function its name anew whenever one is made, which a turn of a memory would mostly measure.
# One thread, so that each side pays for its own garbage.
set -euo pipefail
cd "$(dirname "$0")/.."

files=("$@")
[ $# -gt 0 ] || files=(packages/*/benchmark/*.ts)

for file in "${files[@]}"; do
  out="$(dirname "$file")/.build/$(basename "$file" .ts).mjs"
  npx esbuild "$file" --bundle --platform=node --format=esm --log-level=error --outfile="$out" \
    --external:effect '--external:@effect/*' --external:tinybench \
    --external:js-tiktoken --external:tiktoken --external:gpt-tokenizer --external:ai-tokenizer
  echo "# $file"
  node --expose-gc --single-threaded "$out"
done
