#!/usr/bin/env bash
# The Python package: its wheel is built with the core's build folder and profile, installed into a fresh environment,
# and tested with pandas, polars, pyarrow and DuckDB; its types are checked; its measures are held against pyCANON's.
# Usage: test-python.sh PATH-TO-HEDGEROW
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(realpath "$1")
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo fmt --manifest-path python/Cargo.toml --check
# clippy looks on while the wheel is built, so that the package is not compiled twice.
export CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
python=$(RUSTC_WORKSPACE_WRAPPER=clippy-driver scripts/python-wheel.sh dev "$fresh")
# A source distribution has all that it is built from.
target/python-tools/bin/maturin sdist --manifest-path python/Cargo.toml --out "$fresh/source" >/dev/null 2>&1
tar -xzf "$fresh"/source/*.tar.gz -C "$fresh/source"
manifest=$(find "$fresh/source" -path '*/python/Cargo.toml' | head -n 1)
cargo metadata --quiet --locked --format-version 1 --manifest-path "$manifest" >/dev/null
# Types: those of the library are true, and the package keeps to them.
(
    settings=$PWD/python/pyproject.toml tests=$PWD/python/tests
    cd "$fresh"
    "$python" -m mypy --config-file "$settings" --no-error-summary -p hedgerow
    "$python" -m mypy --config-file "$settings" --no-error-summary "$tests/typed_use.py"
    "$python" -m mypy.stubtest --mypy-config-file "$settings" --concise hedgerow
)
# Questions in SQL are answered by a program of their own.
sql=${HEDGEROW_SQL_TARGET:-$PWD/crates/sql/target}/debug
HEDGEROW_COMMAND=$command PATH="$sql:$PATH" "$python" -m pytest -q -p no:cacheprovider python/tests
"$python" scripts/compare_measures.py "$python" "$(scripts/python-env.sh)"
