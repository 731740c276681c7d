"""psycopg 3 and pandas, with and without SQLAlchemy. The connection is in PG* variables."""

import datetime

import pandas
import psycopg
import sqlalchemy
from psycopg import sql

with psycopg.connect("") as connection:
    assert connection.pgconn.ssl_in_use
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            cursor.execute("SELECT count(*) FROM hospital")
            assert cursor.fetchone() == (600,), binary
            cursor.execute("SELECT age, age_low, admission_low FROM hospital LIMIT 3")
            for age, low, day in cursor.fetchall():
                assert isinstance(age, str) and isinstance(low, int), (age, low)
                assert isinstance(day, datetime.date), day
            counts = []
            # Prepared by the server from the second time on.
            for limit in (20, 40, 60, 100):
                cursor.execute(
                    "SELECT count(*) FROM hospital WHERE age < %s AND sex = %s",
                    (limit, "female"),
                    prepare=True,
                )
                counts.append(cursor.fetchone()[0])
            assert counts == sorted(counts) and counts[0] < counts[-1], counts
            with connection.cursor(row_factory=psycopg.rows.dict_row, binary=binary) as rows:
                rows.execute("SELECT sex, count(*) AS n FROM hospital GROUP BY sex ORDER BY sex")
                assert sum(row["n"] for row in rows) == 600
    # A refusal ends the transaction, and no more.
    try:
        connection.execute("DELETE FROM hospital")
        raise SystemExit("DELETE is answered")
    except psycopg.errors.ReadOnlySqlTransaction:
        connection.rollback()
    try:
        connection.cursor().copy("COPY hospital TO STDOUT").__enter__()
        raise SystemExit("COPY is answered")
    except psycopg.errors.FeatureNotSupported:
        connection.rollback()
    with connection.transaction():
        with connection.transaction():
            assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.execute(sql.SQL("SET hedgerow.answer = {}").format("certain"))
    assert connection.execute("SHOW hedgerow.answer").fetchone() == ("certain",)

with psycopg.connect("options='-c hedgerow.answer=bounds'") as connection:
    cursor = connection.execute("SELECT count(*) FROM hospital WHERE age < 30")
    low, estimate, high, error = cursor.fetchone()
    assert low <= estimate <= high and error >= 0

wrong = [{"sslmode": "disable"}, {"password": "wrong"}, {"user": "nobody"}, {"dbname": "other"}]
for words in wrong:
    try:
        psycopg.connect("", **words)
        raise SystemExit(f"connected with {words}")
    except psycopg.OperationalError:
        pass

engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(""))
table = pandas.read_sql("SELECT sex, count(*) AS n FROM hospital GROUP BY sex", engine)
assert table["n"].sum() == 600 and table["n"].dtype == "int64", table.dtypes
table = pandas.read_sql(
    sqlalchemy.text("SELECT avg(age) AS mean FROM hospital WHERE age BETWEEN :low AND :high"),
    engine,
    params={"low": 20, "high": 60},
)
assert table["mean"].dtype == "float64", table.dtypes
inspector = sqlalchemy.inspect(engine)
assert inspector.get_table_names() == ["hospital"], inspector.get_table_names()
columns = {column["name"]: column["type"] for column in inspector.get_columns("hospital")}
assert isinstance(columns["age_low"], sqlalchemy.BIGINT), columns
whole = pandas.read_sql_table("hospital", engine)
assert len(whole) == 600
with psycopg.connect("") as connection:
    table = pandas.read_sql("SELECT * FROM hospital WHERE age < 40", connection)
    assert "share" in table.columns and len(table) > 0
print(f"   psycopg {psycopg.__version__}, pandas {pandas.__version__}, SQLAlchemy {sqlalchemy.__version__}")
