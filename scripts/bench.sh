#!/usr/bin/env bash
# Prints the figures of the README. Usage: scripts/bench.sh [verify|read|smc|provider_aware|adult]
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
if [ "$what" = all ] || [ "$what" = read ]; then
    cargo bench --quiet -p hedgerow-data --bench read
fi
if [ "$what" = all ] || [ "$what" = smc ]; then
    cargo bench --quiet -p hedgerow-smc
fi
if [ "$what" = all ] || [ "$what" = provider_aware ]; then
    cargo bench --quiet -p hedgerow-protocols --bench provider_aware
fi
if [ "$what" = all ] || [ "$what" = adult ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_adult.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = verify ]; then
    cargo build --quiet --release --bin hedgerow
    "$(scripts/python-env.sh)" scripts/bench_verify.py target/release/hedgerow
fi
