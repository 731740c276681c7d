#!/usr/bin/env bash
# psql: one statement, several, \d, prepared statements, refusals. The connection is in PG* variables.
set -euo pipefail
# Notes about estimates go to the error output, which is looked at where there are any.
ask() { psql -X -A -t -q -v ON_ERROR_STOP=1 "$@" 2>"${errors:-/dev/null}"; }
same() {
    if [ "$2" != "$3" ]; then
        printf 'psql, %s:\n%s\nexpected:\n%s\n' "$1" "$2" "$3"
        exit 1
    fi
}
has() {
    if ! grep -qF -- "$3" <<<"$2"; then
        printf 'psql, %s:\n%s\nwithout:\n%s\n' "$1" "$2" "$3"
        exit 1
    fi
}
same "one statement" "$(ask -c 'SELECT count(*) FROM hospital')" 600
same "several statements" "$(ask -c "SET hedgerow.answer = 'certain'; SHOW hedgerow.answer")" certain
has "a note beside estimates" "$(errors=/dev/stdout ask -c 'SELECT count(*) FROM hospital WHERE age < 30')" "estimates are a model"
has "bounds" "$(psql -X -q -c "SET hedgerow.answer = 'bounds'; SELECT count(*) FROM hospital WHERE age < 30" 2>/dev/null)" "count_low"
same "\\dt" "$(ask -c '\dt')" "public|hospital|table|hedgerow"
same "\\d" "$(ask -c '\d')" "public|hospital|table|hedgerow"
has "\\d hospital" "$(ask -c '\d hospital')" "age_low|bigint"
has "\\d+ hospital" "$(ask -c '\d+ hospital')" "age_low|bigint"
has "\\l" "$(ask -c '\l')" "hospital|hedgerow|UTF8"
has "\\conninfo" "$(ask -c '\conninfo')" "SSL connection"
same "PREPARE" "$(ask <<'SQL'
PREPARE some AS SELECT count(*) FROM hospital WHERE age >= $1 AND sex = $2;
EXECUTE some(0, 'female');
SQL
)" "$(ask -c "SELECT count(*) FROM hospital WHERE sex = 'female'")"
if [ "$(psql --version | sed 's/.* \([0-9]*\)\..*/\1/')" -ge 16 ]; then
    same "\\bind" "$(ask <<<'SELECT count(*) FROM hospital WHERE age >= $1 \bind 0 \g')" 600
fi
for statement in 'COPY hospital TO STDOUT' '\copy hospital TO STDOUT' 'DROP TABLE hospital' "SELECT * FROM 'x.csv'"; do
    if answered=$(ask -c "$statement"); then
        echo "psql: $statement is answered: $answered"
        exit 1
    fi
done
if PGSSLMODE=disable psql -X -c 'SELECT 1' >/dev/null 2>&1 || PGPASSWORD=wrong psql -X -c 'SELECT 1' >/dev/null 2>&1; then
    echo "psql: asked without TLS, or with a wrong password"
    exit 1
fi
echo "   $(psql --version): statements, \\d, prepared statements, refusals"
