"""What clustering by one party costs as tables grow: synthetic censuses (the columns of Adult, eight
quasi-identifiers, as nodes) of 100,000, 300,000 and a million records, k = 10, at the usual effort.

Usage: bench_scale.py PATH-TO-HEDGEROW

The time is that of the whole command, reading and writing included. Fails where a bar is missed: 300,000
records within 60 s, a million within 5 minutes.
"""

import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

# Records, and seconds within which the command must end.
CASES = [(100_000, None), (300_000, 60), (1_000_000, 300)]


def hedgerow(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    missed = []
    for rows, bar in CASES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            hedgerow("generate", "census", "--rows", rows, "--out", folder / "census")
            study = folder / "census" / "study.toml"
            table = next((folder / "census").glob("*.csv"))
            text = study.read_text(encoding="utf-8")
            text = re.sub(r"\[require\].*", '[require]\nk = 10\n[algorithm]\nname = "clustering"\nrecode = "node"\n', text, flags=re.S)
            study.write_text(text, encoding="utf-8")
            start, before = time.monotonic(), spent()
            hedgerow("anonymize", "--force", "--study", study, table, "--out", folder / "release")
            seconds, processor = time.monotonic() - start, spent() - before
        verdict = "" if bar is None else f"; at most {bar} s: {'met' if seconds <= bar else 'MISSED'}"
        each = processor / rows * 1e6
        print(f"{rows:,} records: {seconds:.0f} s, {processor:.0f} s of processor time, {each:.0f} µs a record{verdict}")
        if bar is not None and seconds > bar:
            missed.append(rows)
    return f"missed: {missed}" if missed else 0


sys.exit(main())
