#!/usr/bin/env bash
# Everything that must be true before a change lands. Installs what the tests need.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== formatting"
cargo fmt --all --check
echo "== clippy"
cargo clippy --quiet --workspace --all-targets -- -D warnings
echo "== documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
echo "== tests and doctests"
cargo test --workspace
echo "== the verifier against pyCANON"
cargo build --quiet --bin hedgerow
"$(scripts/python-env.sh)" scripts/compare_pycanon.py target/debug/hedgerow
