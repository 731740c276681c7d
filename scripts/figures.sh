#!/usr/bin/env bash
# Puts the figures of a finished output folder of `hedgerow experiment all` into the book: the plots into
# docs/src/experiments, the table and what is said of each figure below the mark in
# docs/src/experiments.md. Usage: scripts/figures.sh DIR
set -euo pipefail
folder=$(cd "${1:?usage: scripts/figures.sh DIR}" && pwd)
cd "$(dirname "$0")/.."
page=docs/src/experiments.md
mark='<!-- What follows is written by scripts/figures.sh. -->'
if [ ! -f "$folder/index.md" ]; then
    echo "$folder: has no index.md; hedgerow experiment all --out $folder writes it" >&2
    exit 2
fi
if ! grep -qxF -- "$mark" "$page"; then
    echo "$page: has no line that says \"$mark\"" >&2
    exit 2
fi
written=$(mktemp)
trap 'rm -f "$written"' EXIT
{
    awk -v mark="$mark" '{ print } $0 == mark { exit }' "$page"
    echo
    cat "$folder/index.md"
} >"$written"
mkdir -p docs/src/experiments
rm -f docs/src/experiments/*.svg
cp "$folder"/*.svg docs/src/experiments/
cp "$written" "$page"
echo "$page: $(find docs/src/experiments -name '*.svg' | wc -l) figures"
