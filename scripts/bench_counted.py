"""What counted rows cost as records grow: synthetic censuses (the columns of Adult, eight quasi-identifiers), k = 10:
the records counted as they are read, cut, written as a counted release, and the release verified.

Usage: bench_counted.py PATH-TO-HEDGEROW [MILLIONS-OF-RECORDS]...

Times are those of whole commands, memory is the most that either takes. Fails where both commands together take
more than 1.2 s for each million records, or either more than 4 GB: 100 million records have 120 s.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SECONDS_OF_A_MILLION = 1.2
MOST_BYTES = 4e9


def hedgerow(*arguments):
    """What a command says as JSON, with its seconds, its seconds of processor time and its most memory."""
    start = time.monotonic()
    command = [sys.argv[1], *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        # Unlike `wait`, this says what the one process took.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    assert process.returncode == 0, f"{arguments[0]} ended with {process.returncode}"
    return said, time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main():
    missed = []
    for millions in map(int, sys.argv[2:] or ["10"]):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = millions * 1_000_000
            hedgerow("generate", "census", "--rows", rows, "--format", "parquet", "--parts", 64, "--out", folder / "census")
            study = folder / "census" / "study.toml"
            text = study.read_text(encoding="utf-8")
            text = re.sub(r"\[require\].*", '[require]\nk = 10\n[algorithm]\nname = "mondrian"\nrecode = "range"\n', text, flags=re.S)
            text = text.replace("[study]\n", '[study]\nrows = "counted"\n', 1)
            study.write_text(text, encoding="utf-8")
            table = next(path for path in (folder / "census").iterdir() if path.is_dir())
            made = hedgerow("anonymize", "--study", study, table, "--out", folder / "release", "--json")
            verified = hedgerow("verify", folder / "release", "--study", study, "--json")
            written = sum(path.stat().st_size for path in (folder / "release").iterdir())
        summary = json.loads(made[0])
        seconds = made[1] + verified[1]
        most = max(made[3], verified[3])
        is_met = seconds <= SECONDS_OF_A_MILLION * millions and most <= MOST_BYTES
        print(
            f"{rows:,} records, {summary['classes']:,} classes, {written / 1e6:.0f} MB written: "
            f"anonymize {made[1]:.1f} s ({made[2]:.1f} s of processor time, {made[3] / 1e9:.2f} GB), "
            f"verify {verified[1]:.1f} s ({verified[2]:.1f} s, {verified[3] / 1e9:.2f} GB); "
            f"at most {SECONDS_OF_A_MILLION * millions:.0f} s and 4 GB: {'met' if is_met else 'MISSED'}",
            flush=True,
        )
        if not is_met:
            missed.append(rows)
    return f"missed: {missed}" if missed else 0


sys.exit(main())
