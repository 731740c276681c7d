"""Times `hedgerow verify` against pyCANON on one release, in one run, and prints the ratio.

Usage: bench_verify.py PATH-TO-HEDGEROW

The release is the Adult table (30,162 records, from ../shared/data or HEDGEROW_DATA) generalized
to fixed levels of its hierarchies, about 3,000 classes. Both compute all nine measures; ours also
starts, reads the files and measures utility and risk within its time.
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import pandas
from pycanon import anonymity

import tables

LEVELS = {
    "sex": 0,
    "age": 2,
    "race": 0,
    "marital-status": 1,
    "education": 2,
    "native-country": 1,
    "workclass": 1,
    "occupation": 0,
}


def main():
    warnings.filterwarnings("ignore")
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    table = tables.adult_table(None, LEVELS)
    frame = pandas.DataFrame(table.rows, columns=table.header)
    classes = frame.groupby(table.quasi).ngroups
    print(f"{len(frame)} records in {classes} classes, {len(table.quasi)} quasi-identifiers")
    with tempfile.TemporaryDirectory() as folder:
        release, study = table.write(pathlib.Path(folder))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            done = subprocess.run([sys.argv[1], "verify", release, "--study", study, "--json"], capture_output=True)
            times.append(time.perf_counter() - start)
            assert done.returncode == 0, done.stderr
    ours = sorted(times)[2]
    start = time.perf_counter()
    arguments = (frame, table.quasi, table.sensitive)
    anonymity.k_anonymity(frame, table.quasi)
    anonymity.alpha_k_anonymity(*arguments)
    anonymity.l_diversity(*arguments)
    anonymity.entropy_l_diversity(*arguments)
    anonymity.recursive_c_l_diversity(*arguments)
    anonymity.basic_beta_likeness(*arguments)
    anonymity.enhanced_beta_likeness(*arguments)
    anonymity.delta_disclosure(*arguments)
    anonymity.t_closeness(*arguments)
    theirs = time.perf_counter() - start
    print(f"hedgerow {ours:.3f} s (median of 5, whole command), pyCANON {theirs:.1f} s (measures alone)")
    print(f"ratio {theirs / ours:.0f} (the bar is 100)")
    sys.exit(theirs < 100 * ours)


main()
