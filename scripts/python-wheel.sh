#!/usr/bin/env bash
# Builds the wheel of the Python package and installs it into a fresh environment with what its tests use. Prints the
# path of the environment's python. Usage: python-wheel.sh dev|release FOLDER
set -euo pipefail
folder=$(realpath "$2")
cd "$(dirname "$0")/.."
tools=target/python-tools
if ! "$tools/bin/python" -c 'import maturin' 2>/dev/null; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' >&2
fi
# In the core's folder: most of what the core was built of serves here too.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
"$tools/bin/maturin" build --quiet --profile "$1" --locked --manifest-path python/Cargo.toml --out "$folder/wheels" >&2
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    "$folder"/wheels/*.whl pytest pandas pandas-stubs polars pyarrow duckdb tqdm mypy >&2
echo "$folder/env/bin/python"
