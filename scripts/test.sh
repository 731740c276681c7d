#!/usr/bin/env bash
# Everything that must be true before a change lands. Installs what the tests need. Tests and checks that
# cannot be done here are skipped, and the last line says how many.
set -euo pipefail
cd "$(dirname "$0")/.."

# Every skipped test and check adds a line to this file: what is missing, a tab, and its name.
mkdir -p target
export HEDGEROW_SKIPPED=$PWD/target/skipped.txt
: >"$HEDGEROW_SKIPPED"
skip() {
    echo "   skipped: $2: $3"
    printf '%s\t%s\n' "$1" "$2" >>"$HEDGEROW_SKIPPED"
}

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
echo "== clippy (incompatible_msrv refuses what the declared Rust does not have)"
cargo clippy --quiet --workspace --all-targets -- -D warnings
rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
echo "== the declared Rust, $rust"
if cargo "+$rust" --version >/dev/null 2>&1 ||
    timeout 300 rustup toolchain install "$rust" --profile minimal --no-self-update >/dev/null 2>&1; then
    # In a folder of its own, so that the two compilers do not build over each other.
    CARGO_TARGET_DIR=target/declared-rust cargo "+$rust" check --quiet --workspace --locked \
        --config 'profile.dev.package.libsqlite3-sys.opt-level = 0'
else
    skip "Rust $rust" "check with the declared Rust" "rustup toolchain install $rust has it"
fi
echo "== dependencies: bans, licences, sources, known vulnerabilities"
if ! cargo deny --version >/dev/null 2>&1; then
    skip "cargo-deny" "check of licences and known vulnerabilities" "cargo install cargo-deny --locked has it; bans and sources are a test of crates/testing"
else
    cargo deny --log-level error check bans licenses sources
    if timeout 120 cargo deny --log-level error fetch db >/dev/null 2>&1; then
        cargo deny --log-level error check advisories
    else
        skip "advisory database" "check of known vulnerabilities" "https://github.com/rustsec/advisory-db cannot be fetched here"
    fi
fi
echo "== documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
# The tests of SQL, a workspace of its own.
sql() {
    cd crates/sql
    # In a folder of its own, so that a build of the core leaves it alone.
    export CARGO_TARGET_DIR=${HEDGEROW_SQL_TARGET:-$PWD/target}
    # clippy looks on while the tests are built, so that the engine is not compiled twice.
    export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
    nice -n "$1" cargo test --quiet --locked "${@:2}"
}
cargo test --workspace --no-run
# The tests of the core wait for each other much of the time; meanwhile SQL is compiled. What goes wrong with that
# is told when the tests of SQL are run.
(sql 19 --no-run >/dev/null 2>&1) &
compiling=$!
trap 'kill "$compiling" 2>/dev/null || true' EXIT
echo "== tests and doctests"
cargo test --workspace
wait "$compiling" || true
trap - EXIT
echo "== SQL, a workspace of its own (Rust $(sed -n 's/^rust-version = "\(.*\)"$/\1/p' crates/sql/Cargo.toml) or later)"
cargo fmt --manifest-path crates/sql/Cargo.toml --check
(sql 0)
cargo build --quiet --bin hedgerow
echo "== the console in a browser"
browser=0
scripts/test-browser.sh target/debug/hedgerow || browser=$?
case $browser in
0) ;;
3) skip "Chromium or Node.js" "the console in a browser" "apt-get install chromium nodejs npm has them" ;;
*) exit "$browser" ;;
esac
echo "== a served release asked by psql, psycopg, pandas, R and JDBC"
scripts/clients/run.sh target/debug/hedgerow "${HEDGEROW_SQL_TARGET:-crates/sql/target}/debug/hedgerow-sql"
echo "== the Python package: wheel, tests with pandas, polars and pyarrow, measures against pyCANON"
scripts/test-python.sh target/debug/hedgerow
echo "== the verifier against pyCANON"
"$(scripts/python-env.sh)" scripts/compare_pycanon.py target/debug/hedgerow
echo "== the figures of the papers, small, on the synthetic census: the rules that must hold do"
figures=$(mktemp -d)
env -u HEDGEROW_DATA target/debug/hedgerow experiment all --quick --out "$figures"
rm -r "$figures"

echo "== done"
sort -u "$HEDGEROW_SKIPPED" | sed 's/^\(.*\)\t\(.*\)$/   skipped, no \1: \2/'
skipped=$(sort -u "$HEDGEROW_SKIPPED" | wc -l)
if [ "$skipped" = 0 ]; then
    echo "all passed, nothing was skipped"
else
    missing=$(cut -f 1 "$HEDGEROW_SKIPPED" | sort -u | paste -s -d , | sed 's/,/, /g')
    echo "all that was done passed; $skipped skipped for want of: $missing"
fi
