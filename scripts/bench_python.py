"""The figures of the Python package: size of the wheel, time of the import, memory beside a long column, and all nine
measures of Adult against pyCANON's in one run.

Usage: bench_python.py WHEEL PYTHON-WITH-HEDGEROW PYTHON-WITH-PYCANON

Fails where a bar is missed: 15 MB, 50 ms, twice the memory of the column, 100 times.
"""

import pathlib
import subprocess
import sys

BARS = {"wheel": 15.0, "import": 50.0, "memory": 2.0}

IMPORT = "import time; began = time.perf_counter(); import hedgerow; print(1000 * (time.perf_counter() - began))"

MEMORY = """
import numpy, pyarrow, hedgerow
table = pyarrow.table({"age": numpy.arange(10_000_000, dtype="int64") % 100})
def memory(key):
    return next(int(line.split()[1]) / 1000 for line in open("/proc/self/status") if line.startswith(key))
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS:")
hedgerow.k_anonymity(table, ["age"])
print(before, memory("VmHWM:"))
"""


def said(python, code):
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def main():
    wheel, ours, theirs = sys.argv[1:4]
    imports = sorted(said(ours, IMPORT)[0] for _ in range(21))
    before, peak = said(ours, MEMORY)
    found = {
        "wheel": pathlib.Path(wheel).stat().st_size / 1e6,
        "import": imports[len(imports) // 2],
        "memory": peak / before,
    }
    print(f"wheel: {found['wheel']:.1f} MB (the bar is {BARS['wheel']:.0f} MB)")
    print(f"import: {found['import']:.0f} ms, the median of {len(imports)} (the bar is {BARS['import']:.0f} ms)")
    print(
        f"k of an int64 column of 10 million rows: {before:.0f} MB before, {peak:.0f} MB at the peak: "
        f"{found['memory']:.2f} times (the bar is {BARS['memory']:.0f})"
    )
    sys.stdout.flush()
    compared = subprocess.run([ours, pathlib.Path(__file__).with_name("compare_measures.py"), ours, theirs, "--time"])
    missed = [name for name, bar in BARS.items() if found[name] > bar]
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")
    sys.exit(compared.returncode)


main()
