"""Times `hedgerow anonymize` against the Mondrian of anonypy on the Adult table (QI8, k = 10), in one
run, and prints the ratio.

Usage: bench_anonypy.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. Ours is the whole command: start, read,
cut, write CSV and Parquet, read back and verify; theirs is the partition alone, of a table in
memory. Fails below the bar of 200.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pandas
from anonypy.mondrian import Mondrian

import tables

K, BAR = 10, 200


def ours(folder):
    study, data = tables.adult_study(folder, K, "range", "median")
    command = [sys.argv[1], "anonymize", "--study", study, data, "--out", folder / "release", "--json"]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        times.append(time.perf_counter() - start)
        assert done.returncode == 0, done.stderr
    return sorted(times)[2], json.loads(done.stdout)


def theirs():
    frame = pandas.read_csv(tables.shared_data() / "adult9" / "adult.csv", sep=";")
    for name in tables.ADULT:
        if name != "age":
            frame[name] = frame[name].astype("category")
    start = time.perf_counter()
    partition = Mondrian(frame, tables.ADULT, "salary-class").partition(k=K)
    seconds = time.perf_counter() - start
    sizes = [len(part) for part in partition]
    assert sum(sizes) == len(frame) and min(sizes) >= K
    return seconds, len(frame), len(partition)


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    with tempfile.TemporaryDirectory() as folder:
        our_seconds, summary = ours(pathlib.Path(folder))
    their_seconds, records, classes = theirs()
    assert summary["records"] == records and summary["achieved"]["k"] >= K
    print(f"Adult QI8, k = {K}, {records} records")
    print(f"hedgerow {our_seconds:.3f} s (median of 5, whole command), {summary['classes']} classes")
    print(f"anonypy {their_seconds:.1f} s (partition alone), {classes} classes")
    print(f"ratio {their_seconds / our_seconds:.0f} (the bar is {BAR})")
    sys.exit(their_seconds < BAR * our_seconds)


main()
