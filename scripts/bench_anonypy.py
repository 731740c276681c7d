"""Times `hedgerow anonymize` against the Mondrian of anonypy on the Adult table (QI8, k = 10), in one
run, and prints the ratio.

Usage: bench_anonypy.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. Theirs is the partition of a table in
memory. Ours, like for like, is cuts, covers and release of a table in memory; timed before and after
theirs, so that a busy machine slows both. Fails if that is not 200 times as fast. The whole command
(start, read, cut, write CSV and Parquet, read back, verify) is printed beside.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pandas
from anonypy.mondrian import Mondrian

import tables

K, BAR = 10, 200


def ours(folder, times):
    """Runs the command five times; its summary. Adds seconds to `times`: all, the protocol's."""
    study, data = tables.adult_study(folder, f"k = {K}", "range", "median")
    command = [sys.argv[1], "anonymize", "--force", "--study", study, data, "--out", folder / "release", "--json"]
    for _ in range(5):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        times.append((seconds, summary["cost"]["protocol_seconds"]))
    return summary


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
        times = []
        ours(pathlib.Path(folder), times)
        theirs_took, records, classes = theirs()
        summary = ours(pathlib.Path(folder), times)
    whole, protocol = (statistics.median(each) for each in zip(*times))
    assert summary["records"] == records and summary["achieved"]["k"] >= K
    print(f"Adult QI8, k = {K}, {records} records")
    print(f"anonypy {theirs_took:.1f} s (partition alone), {classes} classes")
    print(f"hedgerow {protocol:.4f} s (median of 10; cuts, covers and release), {summary['classes']} classes")
    print(f"ratio {theirs_took / protocol:.0f} (the bar is {BAR})")
    print(f"the whole command: hedgerow {whole:.3f} s, ratio {theirs_took / whole:.0f}")
    sys.exit(theirs_took < BAR * protocol)


main()
