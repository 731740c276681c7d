#!/usr/bin/env bash
# A short run of every fuzz target, where the toolchain allows: cargo-fuzz and a nightly compiler.
# Usage: scripts/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
if ! cargo fuzz --version >/dev/null 2>&1 || ! cargo +nightly --version >/dev/null 2>&1; then
    echo "skipped: fuzzing needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz)"
    exit 0
fi
for target in $(cd fuzz && cargo +nightly fuzz list); do
    echo "== $target"
    (cd fuzz && cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -verbosity=0)
done
