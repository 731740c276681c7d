#!/usr/bin/env bash
# Packs the command for machines without Rust: a static binary (musl), the manual pages, completions, what
# deploy/ has, a list of everything that was built in with its licence, and SHA-256 checksums.
#
# Where a static binary cannot be built here, says what is missing, and packs one for glibc, which is named so.
#
#   scripts/package.sh [--out DIR] [--binary FILE]
#
# --out      where the archive goes; target/package without
# --binary   a binary that was built before, which is packed as it is
set -euo pipefail
out=target/package
binary=
while [ $# -gt 0 ]; do
    case $1 in
    --out | --binary)
        [ $# -gt 1 ] || { echo "error: $1 needs a value" >&2; exit 2; }
        declare "${1#--}=$2"
        shift 2
        ;;
    *)
        echo "error: unknown argument $1" >&2
        echo "hint: scripts/package.sh [--out DIR] [--binary FILE]" >&2
        exit 2
        ;;
    esac
done
# Relative to where the person stands.
mkdir -p "$out"
out=$(cd "$out" && pwd)
[ -z "$binary" ] || binary=$(realpath -e "$binary")
cd "$(dirname "$0")/.."

say() { echo "$@" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }
for program in cargo rustc readelf sha256sum tar gzip; do
    has "$program" || { say "error: $program is missing"; exit 2; }
done

host=$(rustc -vV | sed -n 's/^host: //p')
arch=${host%%-*}
case $host in
*-linux-*) ;;
*) say "error: this machine is $host; packages are made on Linux"; exit 2 ;;
esac

# What a static binary takes: Rust's library for musl, and a C compiler for SQLite, zstd and ring.
musl=$arch-unknown-linux-musl
compiler=
for name in "$arch-linux-musl-gcc" musl-gcc; do
    if has "$name"; then
        compiler=$name
        break
    fi
done
missing=()
[ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ] ||
    missing+=("Rust's library for $musl (rustup target add $musl)")
[ -n "$compiler" ] ||
    missing+=("a C compiler for musl (apt-get install musl-tools)")

# Whether a binary needs no library of the machine that it runs on.
is_static() { ! readelf --dynamic "$1" 2>/dev/null | grep -q NEEDED; }

if [ -n "$binary" ]; then
    target=$host
elif [ ${#missing[@]} = 0 ]; then
    target=$musl
    variable=${musl//-/_}
    env "CC_$variable=$compiler" "CARGO_TARGET_$(tr a-z A-Z <<<"$variable")_LINKER=$compiler" \
        cargo build --release --locked --package hedgerow-cli --target "$musl"
    binary=${CARGO_TARGET_DIR:-target}/$musl/release/hedgerow
    is_static "$binary" || { say "error: $binary is not static"; exit 2; }
else
    say "warning: a static binary cannot be built here; this is missing:"
    for what in "${missing[@]}"; do
        say "  $what"
    done
    say "warning: packing a binary for glibc instead"
    target=$host
    cargo build --release --locked --package hedgerow-cli --target "$host"
    binary=${CARGO_TARGET_DIR:-target}/$host/release/hedgerow
fi

version=$("$binary" --version | cut -d ' ' -f 2)
if is_static "$binary"; then
    name=hedgerow-$version-$arch-linux-musl
    needs="It needs nothing of the machine but Linux."
else
    name=hedgerow-$version-$arch-linux-gnu
    glibc=$(readelf --version-info "$binary" | grep -o 'GLIBC_2\.[0-9.]*' | sort -uV | tail -n 1)
    needs="It needs glibc ${glibc#GLIBC_} or later."
fi

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
package=$folder/$name
mkdir -p "$package/deploy" "$package/completions"
install -m 755 "$binary" "$package/hedgerow"
install -m 644 LICENSE README.md CHANGELOG.md "$package/"
install -m 644 deploy/* "$package/deploy/"
"$package/hedgerow" --quiet man --out "$package/man" >/dev/null
for shell in bash zsh fish; do
    "$package/hedgerow" completions "$shell" >"$package/completions/hedgerow.$shell"
done

# Crates as Cargo.lock has them; a crate without a licence is an error.
{
    echo "# hedgerow $version for $arch: what is built in. $needs"
    echo "# crate, version, licence"
    cargo tree --quiet --locked --package hedgerow-cli --edges normal --target "$target" --prefix none --no-dedupe \
        --format '{p}	{l}' | grep -v '(/' | sed 's/ (proc-macro)//; s/ v\([0-9]\)/\t\1/; s/ (\*)$//' | LC_ALL=C sort -u
} >"$package/DEPENDENCIES.txt"
if grep -v '^#' "$package/DEPENDENCIES.txt" | grep -Pv '^[^\t]+\t[^\t]+\t[^\t]+$' >&2; then
    say "error: these have no licence"
    exit 2
fi

# The same bytes from the same files.
archive=$name.tar.gz
moment=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --create --directory "$folder" --sort=name --mtime="@$moment" --owner=0 --group=0 --numeric-owner "$name" |
    gzip --no-name >"$out/$archive"
(cd "$folder" && find "$name" -type f | LC_ALL=C sort | xargs sha256sum) >"$out/$name.sha256"
(cd "$out" && sha256sum "$archive") >>"$out/$name.sha256"
say "packed $(grep -vc '^#' "$package/DEPENDENCIES.txt") crates. $needs"
say "hedgerow-sql, which answers SQL, is a program of its own: cargo build --release --manifest-path crates/sql/Cargo.toml"
echo "$out/$archive"
echo "$out/$name.sha256"
