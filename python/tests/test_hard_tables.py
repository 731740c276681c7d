"""Tables that real people have: every type, nulls, odd names, odd shapes. The expected k is counted by hand from the
values; what cannot be read is refused in words that name the column, the row, the value and the next step."""

import collections
import datetime
import decimal

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import hedgerow as hr

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30, 15, 250_000)
BERLIN = "Europe/Berlin"

# Values of each type: eight rows, whose smallest class is stated by hand.
COLUMNS = {
    "int64": (pyarrow.array([1, 1, 1, 2, 2, 2, 2, 2]), 3),
    "int64 with nulls": (pyarrow.array([1, 1, 1, 2, 2, None, None, 2]), 2),
    "uint64": (pyarrow.array([2**64 - 1, 2**64 - 1, 5, 5, 5, 5, 5, 5], pyarrow.uint64()), 2),
    "int8": (pyarrow.array([-128, -128, 127, 127, 127, 127, 127, 127], pyarrow.int8()), 2),
    "float64": (pyarrow.array([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, None]), 1),
    "zeros": (pyarrow.array([0.0, -0.0, 0.0, -0.0, 1.5, 1.5, 1.5, 1.5]), 4),
    "float32": (pyarrow.array([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2], pyarrow.float32()), 3),
    "float16": (pyarrow.array(numpy.array([0.5, 0.5, 0.5, 1, 1, 1, 1, 1], "float16")), 3),
    "bool": (pyarrow.array([True, True, False, False, False, False, None, None]), 2),
    "null": (pyarrow.nulls(8), 8),
    "string": (pyarrow.array(["a", "a", "a", "b", "b", "b", "b", None]), 1),
    "large_string": (pyarrow.array(["a", "a", "a", "b", "b", "b", "b", "b"], pyarrow.large_string()), 3),
    "string_view": (pyarrow.array(["a", "a", "a", "b" * 40, "b" * 40, "b" * 40, "b" * 40, "b" * 40], pyarrow.string_view()), 3),
    "dictionary": (pyarrow.array(["a", "a", "b", "b", "b", None, None, None]).dictionary_encode(), 2),
    "dictionary of numbers": (pyarrow.array([30, 30, 40, 40, 40, 40, 40, 40]).dictionary_encode(), 2),
    "dictionary of nothing": (pyarrow.DictionaryArray.from_arrays(pyarrow.nulls(8, pyarrow.int8()), pyarrow.array([], pyarrow.string())), 8),
    "runs": (pyarrow.RunEndEncodedArray.from_arrays([3, 8], ["a", "b"]), 3),
    "date32": (pyarrow.array([DAY, DAY, DAY, None, None, None, None, None]), 3),
    "date64": (pyarrow.array([DAY, DAY, DAY] + 5 * [datetime.date(1900, 1, 1)], pyarrow.date64()), 3),
    "time": (pyarrow.array([datetime.time(8), datetime.time(8)] + 6 * [datetime.time(9)]), 2),
    "timestamp": (pyarrow.array([NOON, NOON] + 6 * [NOON + datetime.timedelta(microseconds=1)]), 2),
    "timestamp with a zone": (pyarrow.array([NOON, NOON] + 6 * [NOON + datetime.timedelta(hours=1)], pyarrow.timestamp("us", BERLIN)), 2),
    "decimal128": (pyarrow.array([decimal.Decimal("1.10")] * 3 + [decimal.Decimal("1.20")] * 5), 3),
    "decimal256": (pyarrow.array([decimal.Decimal("1.10")] * 3 + [decimal.Decimal("1.20")] * 5, pyarrow.decimal256(50, 2)), 3),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_type_of_arrow_is_compared_by_its_values(kind):
    column, expected = COLUMNS[kind]
    table = pyarrow.table({"x": column, "s": ["p", "q"] * 4})
    assert hr.k_anonymity(table, "x") == expected
    found = hr.measures(table, "x", "s")
    assert found.k == expected
    # The same column as the sensitive one has as many values as Python counts.
    assert hr.l_diversity(table, ["s"], ["x"]) >= 1
    values = column.to_pylist()
    assert expected == min(collections.Counter(values).values())


@pytest.mark.parametrize("kind", COLUMNS)
def test_chunks_of_unequal_length_are_one_column(kind):
    column, expected = COLUMNS[kind]
    chunks = [column.slice(0, 1), column.slice(1, 0), column.slice(1, 5), column.slice(6)]
    if kind == "runs":
        pytest.skip("pyarrow slices no runs for its C stream")
    table = pyarrow.table({"x": pyarrow.chunked_array(chunks)})
    assert hr.k_anonymity(table, "x") == expected


def test_nulls_and_nan_are_classes_of_their_own():
    frame = pandas.DataFrame({"x": [1.0, 1.0, numpy.nan, numpy.nan, numpy.nan]})
    assert hr.k_anonymity(frame, "x") == 2
    assert hr.k_anonymity(polars.DataFrame({"x": [1.0, 1.0, None, None, float("nan"), float("nan")]}), "x") == 2
    frame = pandas.DataFrame({"x": ["a", "a", None, numpy.nan, pandas.NA]}, dtype=object)
    assert hr.k_anonymity(frame, "x") == 2


def test_moments_are_compared_whole_and_days_are_days():
    moments = pandas.to_datetime(["2024-01-01 08:00", "2024-01-01 08:00", "2024-01-01 09:00", "2024-01-01 09:00"])
    frame = pandas.DataFrame({"came": moments.as_unit("ns"), "left": moments.normalize()})
    assert hr.k_anonymity(frame, "came") == 2 and hr.k_anonymity(frame, "left") == 4
    frame.loc[3, "came"] += pandas.Timedelta(nanoseconds=1)
    assert hr.k_anonymity(frame, "came") == 1
    # One moment, told in two zones, is one moment.
    zoned = moments.tz_localize("UTC")
    one = pyarrow.table({"came": pyarrow.array(zoned.tz_convert(BERLIN), from_pandas=True)})
    two = pyarrow.table({"came": pyarrow.array(zoned, from_pandas=True)})
    verdicts = [hr.verify(table, quasi="came").models["k"]["worst_class"] for table in (one, two)]
    assert verdicts[0] == verdicts[1] and "2024-01-01T08:00:00Z" in str(verdicts[0])


def test_a_draft_says_that_the_time_of_day_is_left_out(patients):
    draws = range(len(patients))
    for zone in (None, "UTC", BERLIN):
        came = pandas.Series([pandas.Timestamp("2024-01-01", tz=zone) + pandas.Timedelta(hours=7 * draw) for draw in draws])
        frame = patients.assign(came=came)
        study = hr.draft(frame, quasi=["came", "zip"], sensitive=["disease"], k=5)
        notes = [column for column in study.drafted["columns"] if column["name"] == "came"]
        assert "time of day is left out" in str(notes), notes
        rows = hr.anonymize(frame, study).table.to_pandas()
        assert rows.groupby(["came", "zip"]).size().min() >= 5
        days = came.dt.tz_convert("UTC").dt.date if zone else came.dt.date
        assert (rows["came_low"].min(), rows["came_high"].max()) == (days.min(), days.max())


def test_columns_that_are_not_named_are_not_read(patients):
    mixed = [1, "two", 3.0, b"four"] * (len(patients) // 4)
    frame = patients.assign(junk=pandas.Series(mixed, dtype=object), lists=[[1, 2]] * len(patients))
    expected = patients.groupby(["age", "zip"]).size().min()
    assert hr.k_anonymity(frame, ["age", "zip"]) == expected
    assert hr.measures(frame, ["age", "zip"], "disease").k == expected
    lists = pyarrow.table({"age": [1, 1], "lists": [[1], [2]], "bytes": [b"x", b"y"]})
    assert hr.k_anonymity(lists, "age") == 2
    assert hr.k_anonymity(lists.to_batches()[0], "age") == 2
    assert hr.k_anonymity(pyarrow.RecordBatchReader.from_batches(lists.schema, lists.to_batches()), "age") == 2
    objects = polars.DataFrame({"age": [1, 1], "thing": [object(), object()]})
    assert hr.k_anonymity(objects, "age") == 2


def test_files_are_read_by_columns_too(tmp_path):
    table = pyarrow.table({"age": [1, 1, 2, 2], "lists": [[1], [2], [3], [4]]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert hr.k_anonymity(tmp_path / "t.parquet", "age") == 2
    with pytest.raises(hr.DataError, match="column `lists` has type List"):
        hr.verify(tmp_path / "t.parquet", quasi="age")


def test_types_that_values_cannot_have_are_named_all_at_once():
    table = pyarrow.table({"age": [1], "lists": [[1]], "bytes": [b"x"], "wait": [datetime.timedelta(1)]})
    with pytest.raises(hr.DataError) as error:
        hr.k_anonymity(table, ["lists", "age", "bytes", "wait"])
    said = str(error.value)
    for column, kind in {"lists": "List", "bytes": "Binary", "wait": "Duration"}.items():
        assert f"the table: column `{column}` has type {kind}" in said
    assert said.count("hint: ") == 1 and "cast it" in said


def test_objects_of_several_types_are_named_with_row_and_value(patients):
    frame = pandas.DataFrame(
        {
            "age": pandas.Series([31, None, "unknown", 44], dtype=object),
            "zip": pandas.Series(["10115", 10117, "10119", "20095"], dtype=object),
            "fine": pandas.Series([1, 2.5, None, 4], dtype=object),
        }
    )
    with pytest.raises(hr.DataError) as error:
        hr.draft(frame)
    said = str(error.value)
    assert "the table, row 3: column `age`: value 'unknown' of type str stands among values of type int" in said
    assert "the table, row 2: column `zip`: value 10117 of type int stands among values of type str" in said
    assert 'df["zip"].astype(str)' in said and "fine" not in said
    assert hr.k_anonymity(frame, "fine") == 1


def test_pandas_has_what_arrow_has_not(patients):
    cut = pandas.cut(patients["age"], [0, 30, 40, 100])
    expected = patients.groupby(cut, observed=True).size().min()
    frame = patients.assign(
        cut=cut,
        intervals=cut.astype("interval"),
        month=pandas.period_range("2024-01", periods=len(patients), freq="M"),
        sparse=pandas.arrays.SparseArray([0, 1] * (len(patients) // 2)),
        category=patients["disease"].astype("category"),
    )
    assert hr.k_anonymity(frame, "cut") == hr.k_anonymity(frame, "intervals") == expected
    assert hr.k_anonymity(frame, "month") == 1
    assert hr.k_anonymity(frame, "sparse") == len(patients) // 2
    assert hr.k_anonymity(frame, "category") == patients["disease"].value_counts().min()


def test_strings_of_pandas_are_strings_however_they_are_kept(patients):
    expected = patients["zip"].value_counts().min()
    for kind in (object, "str", "string", "category", pandas.ArrowDtype(pyarrow.string()), "string[python]"):
        assert hr.k_anonymity(patients.astype({"zip": kind}), "zip") == expected, kind


def test_polars_types(patients):
    frame = polars.DataFrame({"c": ["a", "a", "b", "b"], "e": ["x", "x", "y", "y"], "d": ["1.5", "1.5", "2.5", "2.5"]})
    frame = frame.cast({"c": polars.Categorical, "e": polars.Enum(["x", "y"]), "d": polars.Decimal(10, 2)})
    frame = frame.with_columns(t=polars.lit(datetime.time(8)), m=polars.lit(NOON), u=polars.lit(2**63, polars.UInt64))
    for column, expected in {"c": 2, "e": 2, "d": 2, "t": 4, "m": 4, "u": 4}.items():
        assert hr.k_anonymity(frame, column) == expected, column
    with pytest.raises(hr.DataError, match=r"a LazyFrame has no rows yet\nhint: collect it first"):
        hr.k_anonymity(frame.lazy(), "c")


def test_duckdb_relations(patients):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT *, [1, 2] AS lists, age AS \"odd \"\"name\" FROM patients")
    expected = patients.groupby(["age", "zip"]).size().min()
    assert hr.k_anonymity(relation, ["age", "zip"]) == expected
    assert hr.k_anonymity(relation, ['odd "name', "zip"]) == expected
    release = hr.anonymize(duckdb.sql("SELECT * FROM patients"), quasi=["age", "zip"], sensitive=["disease"], k=5)
    rows = release.table
    assert duckdb.sql("SELECT min(n) FROM (SELECT count(*) AS n FROM rows GROUP BY age, zip)").fetchall()[0][0] >= 5


def test_names_that_are_no_text(patients):
    frame = pandas.DataFrame({0: [1, 1, 2, 2], 1: ["p", "q", "p", "q"], ("a", "b"): [1, 2, 3, 4]})
    assert hr.k_anonymity(frame, [0]) == hr.k_anonymity(frame, 0) == 2 and hr.l_diversity(frame, [0], [1]) == 2
    assert hr.k_anonymity(frame, [("a", "b")]) == 1
    levels = pandas.DataFrame([[1, 2], [1, 3]], columns=pandas.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert hr.k_anonymity(levels, [("a", "x")]) == 2


def test_names_that_stand_twice_are_refused_where_they_matter():
    frame = pandas.DataFrame([[1, 2, 3], [1, 5, 6]], columns=["age", "zip", "zip"])
    assert hr.k_anonymity(frame, "age") == 2
    with pytest.raises(hr.DataError, match="column `zip` stands twice, as columns 2 and 3\nhint: rename"):
        hr.k_anonymity(frame, "zip")
    with pytest.raises(hr.DataError, match="stands twice"):
        hr.draft(frame)
    table = pyarrow.table([[1, 1], [2, 3], [3, 4]], names=["age", "zip", "zip"])
    assert hr.k_anonymity(table, "age") == 2
    with pytest.raises(hr.DataError, match="column `zip` stands twice, as columns 2 and 3"):
        hr.k_anonymity(table, "zip")


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "reader", "file"])
def test_columns_that_are_missing_are_all_named(form, patients, tmp_path):
    table = pyarrow.Table.from_pandas(patients)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    data = {
        "pandas": patients,
        "polars": polars.from_pandas(patients),
        "pyarrow": table,
        "reader": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        "file": tmp_path / "t.parquet",
    }[form]
    with pytest.raises(hr.DataError) as error:
        hr.measures(data, ["agee", "salary"], ["illness"])
    said = str(error.value)
    assert all(f"there is no column `{name}`" in said for name in ("agee", "salary", "illness"))
    assert "hint: " in said and "`zip`" in said


def test_empty_tables_say_so(patients):
    for data in (patients.head(0), polars.from_pandas(patients).head(0), pyarrow.table({"age": [], "zip": [], "disease": []})):
        for ask in (
            lambda: hr.k_anonymity(data, ["age", "zip"]),
            lambda: hr.measures(data, ["age"], ["disease"]),
            lambda: hr.verify(data, quasi=["age", "zip"]),
            lambda: hr.draft(data),
            lambda: hr.anonymize(data, quasi=["age", "zip"], sensitive=["disease"]),
        ):
            with pytest.raises(hr.HedgerowError, match="record"):
                ask()
    with pytest.raises(hr.DataError, match="there is no column `age`"):
        hr.k_anonymity(pandas.DataFrame(), ["age"])


@pytest.mark.parametrize("thing", [42, None, [1, 2], object(), {"age": [1]}, numpy.zeros((2, 2))])
def test_what_is_no_table_is_refused_with_a_hint(thing):
    with pytest.raises(hr.DataError, match="hint: give a path"):
        hr.k_anonymity(thing, ["age"])


def test_one_column_is_no_table(patients):
    for series in (patients["age"], polars.from_pandas(patients)["age"]):
        with pytest.raises(hr.DataError, match="to_frame"):
            hr.k_anonymity(series, ["age"])
    with pytest.raises(hr.DataError, match="hint: give a path"):
        hr.k_anonymity(pyarrow.array([1, 2]), ["age"])


def test_values_outside_a_study_are_named_by_row_all_at_once(patients):
    study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    patients.loc[5, "age"] = 99_999
    patients.loc[[7, 9], "disease"] = "plague"
    for wrong in (lambda: hr.anonymize(patients, study), lambda: study.check(patients)):
        with pytest.raises(hr.DataError) as error:
            wrong()
        said = str(error.value)
        assert "the table, row 6: column `age`: value `99999` is outside" in said
        assert "the table, row 8: column `disease`: value `plague`" in said and "row 10" in said
        assert "hint: nearest valid values are" in said
    with pytest.raises(hr.DataError, match="the table 2, row 6: column `age`"):
        hr.simulate([patients.head(5), patients.head(9)], study)
    with pytest.raises(hr.DataError) as error:
        hr.anonymize(patients.rename(columns={"zip": "zipp"}).assign(extra=1), study)
    said = str(error.value)
    assert "the table: unknown column `zipp`\nhint: did you mean `zip`?" in said
    assert "the table: unknown column `extra`" in said


def test_numbers_that_a_study_cannot_say(patients):
    frame = patients.assign(serial=pandas.Series(range(2**64 - len(patients), 2**64), dtype="uint64"))
    release = hr.anonymize(frame, quasi=["age", "zip"], sensitive=["disease"], k=5)
    assert "serial" not in release.table.columns and release.holds
    with pytest.raises(hr.StudyError, match="k: -3 is out of range"):
        hr.anonymize(patients, quasi=["age"], k=-3)
    with pytest.raises(hr.StudyError, match="k: 'ten' is no whole number"):
        hr.draft(patients, k="ten")
    for ask in (lambda: hr.k_anonymity(patients, []), lambda: hr.l_diversity(patients, "age", [])):
        with pytest.raises(hr.StudyError, match="nothing says which columns are"):
            ask()
    study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    with pytest.raises(hr.StudyError, match="seed: -1 is out of range"):
        hr.anonymize(patients, study, seed=-1)
    with pytest.raises(hr.StudyError, match="sites"):
        hr.simulate(patients, study, sites=0)
    with pytest.raises(hr.StudyError, match="a str is no study\nhint: hr.Study.open"):
        hr.anonymize(patients, "study.toml")


def test_booleans_dates_and_decimals_make_a_release(patients):
    draws = range(len(patients))
    frame = patients.assign(
        smokes=[draw % 3 == 0 for draw in draws],
        born=[DAY - datetime.timedelta(days=40 * (draw % 50)) for draw in draws],
        fever=[decimal.Decimal(360 + draw % 40) / 10 for draw in draws],
    )
    quasi = ["smokes", "born", "fever"]
    release = hr.anonymize(frame, quasi=quasi, sensitive=["disease"], k=8)
    rows = release.table.to_pandas()
    assert len(rows) == len(frame) and rows.groupby(quasi).size().min() >= 8
    assert release.verify().holds
