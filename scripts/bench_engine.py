"""What a table costs that is counted where it lies: a synthetic census (the columns of Adult, eight quasi-identifiers)
in parts of Parquet, k = 10, `rows = "counted"`. Prints, for each number of records: its size, and for generating,
counting, anonymizing with `--engine local --memory 2GB` and verifying, the seconds, the processor's seconds and the
greatest memory of any process; and what three sites with these records between them send.

Usage: bench_engine.py PATH-TO-HEDGEROW [RECORDS…]

`hedgerow-sql` is on PATH. Without numbers, 10 and 100 million records; tables are removed at the end. Of 100 million,
counting, anonymizing and verifying may take 120 s and 4 GB on two cores that do nothing else; the last line says
whether they did, and how busy the machine was.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PARTS = {10_000_000: 16, 100_000_000: 64}
BAR_RECORDS, BAR_SECONDS, BAR_BYTES = 100_000_000, 120, 4 << 30
# Room on disk that is left alone.
LEFT = 15 << 30


def children(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    found = [int(child) for child in text.split()]
    return found + [one for child in found for one in children(child)]


def resident(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def measured(command, **options):
    """Seconds, the processor's seconds, and the greatest memory of the program and all that it starts together."""
    before, start = os.times(), time.monotonic()
    running = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, **options)
    most = 0
    while running.poll() is None:
        most = max(most, sum(map(resident, [running.pid, *children(running.pid)])))
        time.sleep(0.02)
    seconds, after = time.monotonic() - start, os.times()
    if running.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {running.stderr.read()}")
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, processor, most


def said(what, cost):
    seconds, processor, most = cost
    print(f"  {what}: {seconds:.1f} s, {processor:.1f} s of processor time, {most / 1e6:,.0f} MB", flush=True)


def bench(hedgerow, records, folder):
    parts = PARTS.get(records, 16)
    table = folder / "census"
    made = measured([hedgerow, "generate", "census", "--rows", records, "--format", "parquet", "--parts", parts, "--out", table])
    study = table / "study.toml"
    text = study.read_text(encoding="utf-8")
    text = text.replace('partition = "horizontal"\n', 'partition = "horizontal"\nrows = "counted"\n', 1)
    study.write_text(re.sub(r"\[require\].*", "[require]\nk = 10\n", text, flags=re.S), encoding="utf-8")
    rows = next(path for path in table.iterdir() if path.is_dir())
    size = sum(part.stat().st_size for part in rows.iterdir())
    print(f"{records:,} records in {parts} parts, {size / 1e9:.2f} GB")
    said("generate", made)
    roles = re.findall(r'\[\[attribute\]\]\nname = "([^"]+)"\nrole = "([^"]+)"', text)
    columns = [f"--column={name}" for name, role in roles if role != "identifier"]
    with open(folder / "counts", "wb") as counts:
        command = ["hedgerow-sql", "count", "--memory", 2_000_000_000, "--spill", folder, *columns, rows]
        counted = measured(command, stdout=counts)
    said("count alone", counted)
    (folder / "counts").unlink()
    release = folder / "release"
    command = [hedgerow, "anonymize", "--study", study, "--engine", "local", "--memory", "2GB", "--spill", folder]
    anonymized = measured([*command, "--out", release, rows], stdout=subprocess.DEVNULL)
    said("anonymize, count and counted release included", anonymized)
    verified = measured([hedgerow, "verify", release, "--study", study], stdout=subprocess.DEVNULL)
    said("verify", verified)
    # Each combination's records are dealt to three sites at random.
    command = [hedgerow, "simulate", "--study", study, "--engine", "local", "--memory", "2GB", "--spill", folder]
    with open(folder / "summary.json", "w+") as summary:
        together = measured([*command, "--sites", 3, "--split", "random", "--json", "--out", folder / "joint", rows], stdout=summary)
        summary.seek(0)
        cost = json.load(summary)["cost"]
    said("three sites in one process", together)
    print(f"    {cost['rounds']} rounds, {cost['messages']:,} messages, {cost['bytes'] / 1e6:.1f} MB between institutions")
    seconds = anonymized[0] + verified[0]
    most = max(anonymized[2], verified[2])
    print(f"  together {seconds:.1f} s, at most {most / 1e9:.2f} GB; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return records == BAR_RECORDS and (seconds > BAR_SECONDS or most > BAR_BYTES)


def main():
    hedgerow = pathlib.Path(sys.argv[1]).resolve()
    missed = False
    for records in [int(word) for word in sys.argv[2:]] or PARTS:
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
            # A record takes less than 40 bytes in Parquet, and spilling once more.
            if shutil.disk_usage(folder).free - records * 80 < LEFT:
                sys.exit(f"{records:,} records need more room than {folder} has")
            missed |= bench(hedgerow, records, pathlib.Path(folder))
    return "120 s and 4 GB: MISSED" if missed else 0


sys.exit(main())
