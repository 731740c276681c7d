#!/usr/bin/env bash
# Makes the virtual environment of the comparisons with pyCANON and anonypy, once, below target/.
# Prints the path of its python.
set -euo pipefail
cd "$(dirname "$0")/.."
env=target/python-env
if [ ! -x "$env/bin/python" ] || ! "$env/bin/python" -c 'import pycanon, anonypy, pyarrow' 2>/dev/null; then
    rm -rf "$env"
    if ! python3 -m venv "$env" >/dev/null 2>&1; then
        (apt-get update -qq && apt-get install -y -qq python3-venv) >/dev/null
        python3 -m venv "$env"
    fi
    "$env/bin/pip" install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2
fi
echo "$env/bin/python"
