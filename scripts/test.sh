#!/usr/bin/env bash
# Everything that must be true before a change lands. Installs what the tests need.
set -euo pipefail
cd "$(dirname "$0")/.."

# PostgreSQL for the tests that read from one; they start a private cluster on a free port.
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    echo "== installing PostgreSQL with apt-get, without a cluster of its own (create_main_cluster = false)"
    if ! { command -v apt-get && { [ "$(id -u)" = 0 ] || command -v sudo; }; } >/dev/null; then
        echo "   it cannot be installed here; the tests that need it will say that they were skipped"
    elif ! { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-common &&
        "${as_root[@]}" sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql; } >/dev/null; then
        echo "   apt-get failed; the tests that need it will say that they were skipped"
    fi
fi

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
