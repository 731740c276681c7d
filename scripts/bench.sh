#!/usr/bin/env bash
# Prints the figures of docs/src/benchmarks.md. Usage: scripts/bench.sh [verify|read|smc|mondrian|m-privacy|provider-aware|clustering|d2pt|vertical-clustering|vertical-mondrian|adult|counted|engine|sites|node|questions|console|queries|pareto|check-adult|gate|anonypy|beside|python]
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
if [ "$what" = all ] || [ "$what" = read ]; then
    cargo bench --quiet -p hedgerow-data --bench read
fi
if [ "$what" = all ] || [ "$what" = smc ]; then
    cargo bench --quiet -p hedgerow-smc
fi
if [ "$what" = all ] || [ "$what" = mondrian ]; then
    cargo bench --quiet -p hedgerow-protocols --bench mondrian
fi
if [ "$what" = all ] || [ "$what" = m-privacy ]; then
    cargo bench --quiet -p hedgerow-privacy --bench m_privacy
fi
if [ "$what" = all ] || [ "$what" = provider-aware ]; then
    cargo bench --quiet -p hedgerow-protocols --bench provider_aware
fi
if [ "$what" = all ] || [ "$what" = clustering ]; then
    cargo bench --quiet -p hedgerow-protocols --bench clustering
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_rounds.py target/release/hedgerow
    python3 scripts/bench_scale.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = d2pt ]; then
    cargo bench --quiet -p hedgerow-protocols --bench d2pt
fi
if [ "$what" = all ] || [ "$what" = vertical-clustering ]; then
    cargo bench --quiet -p hedgerow-protocols --bench vertical_clustering
fi
if [ "$what" = all ] || [ "$what" = vertical-mondrian ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_vertical_mondrian.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = adult ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_adult.py target/release/hedgerow
fi
# Not among all: it wants a machine to itself.
if [ "$what" = counted ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_counted.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = sites ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_sites.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = node ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_node.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = questions ]; then
    cargo bench --quiet -p hedgerow --bench questions
fi
if [ "$what" = all ] || [ "$what" = console ]; then
    cargo bench --quiet -p hedgerow-console --bench pages
fi
if [ "$what" = all ] || [ "$what" = queries ]; then
    cargo build --quiet --release --bin hedgerow
    cargo build --quiet --release --manifest-path crates/sql/Cargo.toml --target-dir target/sql
    PATH="$PWD/target/sql/release:$PATH" python3 scripts/bench_queries.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = pareto ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_pareto.py target/release/hedgerow --plot docs/src/pareto.svg
fi
# Not among all: it takes several gigabytes of disk.
if [ "$what" = engine ]; then
    cargo build --quiet --release --bin hedgerow
    cargo build --quiet --release --manifest-path crates/sql/Cargo.toml --target-dir target/sql
    PATH="$PWD/target/sql/release:$PATH" python3 scripts/bench_engine.py target/release/hedgerow
fi
# Not among all: it waits for ten minutes for what does not end.
if [ "$what" = beside ]; then
    cargo build --quiet --release --bin hedgerow
    "$(scripts/python-env.sh)" scripts/bench_beside.py target/release/hedgerow
fi
# Not among all: it takes a quarter of an hour.
if [ "$what" = check-adult ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/check_adult.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = gate ]; then
    cargo build --quiet --release --bin hedgerow
    python3 scripts/bench_gate.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = verify ]; then
    cargo build --quiet --release --bin hedgerow
    "$(scripts/python-env.sh)" scripts/bench_verify.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = anonypy ]; then
    cargo build --quiet --release --bin hedgerow
    "$(scripts/python-env.sh)" scripts/bench_anonypy.py target/release/hedgerow
fi
if [ "$what" = all ] || [ "$what" = python ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    python=$(scripts/python-wheel.sh release "$folder")
    python3 scripts/bench_python.py "$folder"/wheels/*.whl "$python" "$(scripts/python-env.sh)"
fi
