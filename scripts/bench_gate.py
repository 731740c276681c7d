"""What all attacks of `hedgerow gate` take: on releases of Adult (30,162 records, three sites), and of a synthetic
census of a million records.

Usage: bench_gate.py PATH-TO-HEDGEROW [RECORDS-OF-THE-CENSUS]

The command has one thread. Each release is attacked with the rows of its three sites, people who are not in the
table, and an earlier release. Adult needs the real tables of ../shared/data or HEDGEROW_DATA. Fails where Adult takes
more than 10 s of processor time, or a million records more than 300 s or 4 GB.
"""

import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import tables

MOST_SECONDS = {"Adult": 10, "census": 300}
MOST_BYTES = 4e9
SETTINGS = [
    ("Adult, Mondrian, node", "mondrian", "node", ""),
    ("Adult, Mondrian, range, box", "mondrian", "range", 'covers = "box"'),
    ("Adult, Mondrian, set", "mondrian", "set", ""),
    ("Adult, clustering, range", "clustering", "range", ""),
]


def hedgerow(*arguments):
    """Runs a command that is to succeed."""
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def gate(what, kind, out, study, own, holdout, earlier):
    """Attacks a release; prints what that takes, and says what is above a bar."""
    options = [word for path in own for word in ("--own", path)]
    options += ["--holdout", holdout, "--earlier", earlier, "--skip", "owner", "--json"]
    command = [sys.argv[1], "gate", str(out), "--study", str(study), *map(str, options)]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, env={**os.environ, "RAYON_NUM_THREADS": "1"})
        # Unlike `wait`, this says what the one process took.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    # 1: something falls.
    assert process.returncode in (0, 1) and '"not_tried"' not in said, said
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    print(f"{what}: {seconds:.1f} s of processor time, {memory / 1e9:.2f} GB", flush=True)
    if seconds > MOST_SECONDS[kind]:
        yield f"{what}: {seconds:.1f} s, at most {MOST_SECONDS[kind]}"
    if memory > MOST_BYTES:
        yield f"{what}: {memory / 1e9:.2f} GB, at most {MOST_BYTES / 1e9}"


def write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    return path


def adult(folder):
    data = tables.shared_data()
    with open(data / "adult9" / "adult.csv", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter=";")
    with open(data / "adult14" / "adult14.csv", encoding="utf-8") as file:
        everybody = list(csv.DictReader(file))
    holdout = write(folder / "holdout.csv", head, [[row[name] for name in head] for row in everybody[len(rows) :]])
    draw = random.Random(3)
    sites = [draw.choice("abc") for _ in rows]
    table = write(folder / "adult.csv", head + ["site"], [row + [site] for row, site in zip(rows, sites)])
    own = [
        write(folder / f"own-{one}.csv", head, [row for row, site in zip(rows, sites) if site == one]) for one in "abc"
    ]
    earlier = None
    for name, algorithm, recode, more in SETTINGS:
        study, _ = tables.adult_study(folder, "k = 10", recode, None, algorithm)
        study.write_text(study.read_text() + more + "\n")
        out = folder / "".join(letter for letter in name if letter.isalpha())
        hedgerow("anonymize", "--study", study, table, "--provider-column", "site", "--out", out)
        earlier = earlier or out
        yield from gate(name, "Adult", out, study, own, holdout, earlier)


def census(folder, records):
    """A tenth as many people are not in the table; a hundred came since the earlier release."""
    people = folder / "census"
    hedgerow("generate", "census", "--rows", records + records // 10, "--pooled", "--sites", 3, "--out", people)
    study = people / "study.toml"
    text = study.read_text(encoding="utf-8")
    text = re.sub(r"\[require\].*", '[require]\nk = 10\nm = 0\n[algorithm]\nname = "mondrian"\nrecode = "range"\n', text, flags=re.S)
    study.write_text(text, encoding="utf-8")
    with open(people / "census.csv", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    random.Random(3).shuffle(rows)
    site = head.index("site")
    table = write(folder / "table.csv", head, rows[:records])
    before = write(folder / "before.csv", head, rows[: records - 100])
    holdout = write(folder / "strangers.csv", head, rows[records:])
    names = sorted({row[site] for row in rows})
    own = [write(folder / f"{one}.csv", head, [row for row in rows[:records] if row[site] == one]) for one in names]
    for source, out in [(table, "release"), (before, "earlier")]:
        hedgerow("anonymize", "--study", study, source, "--provider-column", "site", "--out", folder / out)
    yield from gate(
        f"census, Mondrian, range, {records:,} records", "census", folder / "release", study, own, holdout, folder / "earlier"
    )


def main():
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if tables.shared_data():
            missed += adult(folder)
        else:
            print("no real tables here; Adult is left out")
        missed += census(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    if missed:
        sys.exit("MISSED: " + "\nMISSED: ".join(missed))


main()
