#!/usr/bin/env bash
# The Python package: its wheel is built with the core's build folder, installed into a fresh environment, and tested
# with pandas, polars and pyarrow; its measures are held against pyCANON's. Usage: test-python.sh PATH-TO-HEDGEROW
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(realpath "$1")
tools=target/python-tools
if ! "$tools/bin/python" -c 'import maturin' 2>/dev/null; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
(
    cd python
    cargo fmt --check
    cargo clippy --quiet --locked -- -D warnings
)
"$tools/bin/maturin" build --quiet --profile dev --locked --manifest-path python/Cargo.toml --out "$fresh/wheels"
# A source distribution has all that it is built from.
"$tools/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$fresh/source" >/dev/null 2>&1
tar -xzf "$fresh"/source/*.tar.gz -C "$fresh/source"
manifest=$(find "$fresh/source" -path '*/python/Cargo.toml' | head -n 1)
cargo metadata --quiet --locked --format-version 1 --manifest-path "$manifest" >/dev/null
python3 -m venv "$fresh/env"
"$fresh/env/bin/pip" install --quiet --disable-pip-version-check "$fresh"/wheels/*.whl pytest pandas polars pyarrow
# Questions in SQL are answered by a program of their own.
sql=${HEDGEROW_SQL_TARGET:-$PWD/crates/sql/target}/debug
HEDGEROW_COMMAND=$command PATH="$sql:$PATH" "$fresh/env/bin/python" -m pytest -q -p no:cacheprovider python/tests
"$fresh/env/bin/python" scripts/compare_measures.py "$fresh/env/bin/python" "$(scripts/python-env.sh)"
