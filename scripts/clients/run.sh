#!/usr/bin/env bash
# Asks a served release by the clients that analysts have: psql, psycopg, pandas, R and JDBC, each over TLS, with the
# server's certificate looked at, and with a password.
# Usage: scripts/clients/run.sh HEDGEROW HEDGEROW_SQL. Installs what is missing by apt-get and pip; a client that
# cannot be installed is skipped, and HEDGEROW_SKIPPED, if set, names a file that is told so.
set -euo pipefail
hedgerow=$(realpath "$1")
sql=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

skip() {
    echo "   skipped: $2"
    [ -z "${HEDGEROW_SKIPPED:-}" ] || printf '%s\t%s\n' "$1" "$2" >>"$HEDGEROW_SKIPPED"
}
# Installs packages, if that can be done here.
install() {
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    command -v apt-get >/dev/null || return 1
    { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"; } >/dev/null 2>&1
}

if ! command -v openssl >/dev/null && ! install openssl; then
    skip "openssl" "clients of the SQL server: there is nothing to make a certificate with"
    exit 0
fi
# A release, a certificate of an own authority, and a site that serves one for the other.
cd "$folder"
"$hedgerow" generate hospital --rows 600 --out hospital >/dev/null
"$hedgerow" anonymize --study hospital/study.toml hospital/north.csv --out release >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=Test authority" \
    -keyout ca.pem -out ca.crt 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout sql.pem -out sql.csr 2>/dev/null
printf 'subjectAltName=DNS:localhost\n' >names.txt
openssl x509 -req -in sql.csr -CA ca.crt -CAkey ca.pem -CAcreateserial -days 2 -extfile names.txt -out sql.crt 2>/dev/null
chmod 600 sql.pem
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >site.toml <<TOML
site = "north"
study = "hospital/study.toml"
key = "north.key"
data = "data"

[source]
file = "hospital/north.csv"

[sql]
listen = "127.0.0.1:$port"
certificate = "sql.crt"
key = "sql.pem"
TOML
chmod 600 site.toml
export PGPASSWORD="pass word for anna"
printf '%s\n' "$PGPASSWORD" | "$sql" user anna --site site.toml 2>/dev/null
if grep -q "$PGPASSWORD" site.toml; then
    echo "the password stands in site.toml"
    exit 1
fi
"$sql" serve --site site.toml release 2>server.log &
server=$!
for _ in $(seq 100); do
    grep -q "is served at" server.log && break
    kill -0 "$server" 2>/dev/null || { cat server.log; exit 1; }
    sleep 0.1
done
export PGHOST=localhost PGPORT=$port PGUSER=anna PGDATABASE=hospital PGSSLMODE=verify-full PGSSLROOTCERT=$folder/ca.crt

echo "-- psql"
if command -v psql >/dev/null || install postgresql-client; then
    bash "$here/psql.sh"
else
    skip psql "psql asks a served release"
fi
echo "-- psycopg and pandas"
env=${HEDGEROW_CLIENTS_ENV:-$here/../../target/clients-env}
if { [ -x "$env/bin/python" ] || python3 -m venv "$env" || { install python3-venv && python3 -m venv "$env"; }; } >/dev/null 2>&1 &&
    "$env/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >/dev/null 2>&1; then
    "$env/bin/python" "$here/python.py"
else
    skip "psycopg and pandas" "Python asks a served release"
fi
echo "-- R"
if { command -v Rscript >/dev/null && Rscript -e 'stopifnot(requireNamespace("RPostgres") || requireNamespace("RPostgreSQL"))' >/dev/null 2>&1; } ||
    install r-base-core r-cran-rpostgres || install r-base-core r-cran-rpostgresql; then
    Rscript --vanilla "$here/r.R"
else
    skip "RPostgres" "R asks a served release"
fi
echo "-- JDBC"
driver=/usr/share/java/postgresql.jar
if { command -v java >/dev/null && java --list-modules 2>/dev/null | grep -q jdk.compiler && [ -e "$driver" ]; } ||
    install default-jdk-headless libpostgresql-jdbc-java; then
    java -cp "$driver" "$here/Jdbc.java"
else
    skip "the JDBC driver" "JDBC asks a served release"
fi

echo "-- the log of what was asked"
python3 - data/sql.log "$PGPASSWORD" <<'PY'
import json, os, stat, sys
path, password = sys.argv[1:]
text = open(path).read()
lines = [json.loads(line) for line in text.splitlines()]
assert password not in text
assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
assert {line["user"] for line in lines} == {"anna"}
asked = [line["statement"] for line in lines if line["event"] == "asked"]
assert any("GROUP BY sex" in statement for statement in asked), asked
print(f"   {len(asked)} statements, each with its user and time, and no password")
PY
