"""Tables in and out, from every library that speaks Arrow: the same rows, the same answers."""

import os
import subprocess
import sys

import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import hedgerow as hr

QUASI, SENSITIVE = ["age", "zip"], ["disease"]


def forms(frame, folder):
    """The same table in every form."""
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "t.csv", index=False)
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    shuffled = frame.copy()
    shuffled.index = range(1000, 1000 + len(frame))
    categories = frame.assign(
        age=frame["age"].astype("category"), disease=frame["disease"].astype("category")
    )
    return {
        "pandas": frame,
        "pandas with an index": shuffled.set_index(pandas.Index([f"r{i}" for i in range(len(frame))])),
        "pandas categories": categories,
        "polars": polars.from_pandas(frame),
        "pyarrow table": table,
        "pyarrow batch": table.combine_chunks().to_batches()[0],
        "chunks": pyarrow.concat_tables([table.slice(0, 100), table.slice(100)]),
        "csv": folder / "t.csv",
        "parquet": str(folder / "t.parquet"),
    }


def counted(rows):
    frame = rows.to_pandas() if not isinstance(rows, pandas.DataFrame) else rows
    return sorted(map(tuple, frame.astype(str).values.tolist()))


def test_every_form_of_a_table_gives_the_same_release(patients, tmp_path):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    releases = {
        name: counted(hr.anonymize(table, study).table) for name, table in forms(patients, tmp_path).items()
    }
    first = releases.pop("pandas")
    assert len(first) == len(patients)
    for name, rows in releases.items():
        assert rows == first, name


def test_measures_are_the_same_in_every_form(patients, tmp_path):
    patients["age"] //= 20
    found = {
        name: hr.measures(table, QUASI, SENSITIVE).as_dict() for name, table in forms(patients, tmp_path).items()
    }
    assert len({str(measures) for measures in found.values()}) == 1, found
    sizes = patients.groupby(QUASI).size()
    assert found["pandas"]["k"] == sizes.min()


def test_a_release_is_read_by_every_library(patients, tmp_path):
    release = hr.anonymize(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    rows = release.table
    assert len(rows) == len(patients)
    as_pandas = rows.to_pandas()
    assert counted(pyarrow.table(rows)) == counted(as_pandas)
    assert rows.to_polars().height == len(as_pandas)
    assert list(as_pandas.columns) == rows.columns
    assert (as_pandas["age_low"] <= as_pandas["age_high"]).all()
    # And by hand: every class has five records or more.
    assert as_pandas.groupby(["age", "zip"]).size().min() >= 5
    assert sorted(as_pandas["disease"]) == sorted(patients["disease"])
    # What was published verifies from memory too, typed bounds included.
    assert hr.verify(rows, study=hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)).holds


def test_bounds_that_contradict_their_labels_are_found(patients):
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    frame = hr.anonymize(patients, study).table.to_pandas()
    frame.loc[3, "age_low"] -= 1
    verdict = hr.verify(frame, study=study)
    assert not verdict.holds and "age_low" in str(verdict)


def test_nulls_are_missing_values(patients):
    patients.loc[::9, "disease"] = None
    study = hr.draft(patients, quasi=QUASI, sensitive=SENSITIVE, k=5)
    rows = hr.anonymize(patients, study).table.to_pandas()
    assert rows["disease"].isna().sum() + (rows["disease"] == "").sum() == len(range(0, len(patients), 9))


CODE = """
import sys, numpy, pyarrow, hedgerow
rows = 10_000_000
numbers = numpy.arange(rows, dtype="int64") % 100
if sys.argv[1] == "pandas":
    import pandas
    table = pandas.DataFrame({"age": numbers})
else:
    table = pyarrow.table({"age": numbers})
del numbers

def memory(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024

# The peak so far is forgotten, so that only the measure's own is seen.
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS")
assert hedgerow.k_anonymity(table, ["age"]) == rows // 100
print(before, memory("VmHWM"))
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="no peak of memory can be seen here")
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_long_column_does_not_double_memory(library):
    """An int64 column of ten million rows does not double memory, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", CODE, library], capture_output=True, text=True, check=True)
    before, peak = map(int, done.stdout.split())
    # The column has eight bytes a row. Beside it are codes of four bytes, and two numbers of four bytes that say
    # which rows a class has.
    assert before > 80_000_000 and peak < 2 * before and peak - before < 14 * 10_000_000, done.stdout
