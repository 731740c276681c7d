"""Holds two runs against their bars, as the command that people type counts them: the study of the demo
(3,000 records, four hospitals, m = 1), and the census (100,000 records, k = 50, five sites, clustered, age
as a range of whole numbers).

Usage: bench_rounds.py PATH-TO-HEDGEROW [demo|census]

The census needs the real tables of ../shared/data or HEDGEROW_DATA. Fails where a bar is missed.
"""

import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import tables

MISSED = []


def hedgerow(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def at_most(what, found, bar):
    verdict = "met" if found <= bar else "MISSED"
    print(f"    {what}: {found:,}, at most {bar:,}: {verdict}")
    if found > bar:
        MISSED.append(what)


def simulate(study, table, folder, *options):
    start = time.monotonic()
    run = hedgerow("simulate", "--force", "--study", study, table, "--out", folder / "release", *options)
    cost = run["cost"]
    print(
        f"    {cost['rounds']:,} rounds, {cost['messages']:,} messages, {cost['bytes']:,} bytes, "
        f"{time.monotonic() - start:.0f} s"
    )
    return cost


def demo(folder):
    """The hospitals of `hedgerow demo`, as they were when the bar was set."""
    print("the demo's study: 3,000 records, four hospitals, m = 1")
    hedgerow("generate", "hospital", "--rows", 3000, "--sites", 4, "--seed", 1, "--pooled", "--out", folder / "demo")
    study = folder / "demo" / "study.toml"
    text = study.read_text(encoding="utf-8")
    text = text.replace("[require]\n", "[require]\nsite_diversity = 2\nm = 1\n")
    study.write_text(text.replace('recode = "node"', 'recode = "range"\nalpha = 1.0'), encoding="utf-8")
    table = next((folder / "demo").glob("*.csv"))
    cost = simulate(study, table, folder / "demo", "--provider-column", "site")
    at_most("rounds of the demo", cost["rounds"], 150)
    at_most("bytes of the demo", cost["bytes"], 30_000_000)


def census(folder):
    """The first 100,000 records of Census-Income, with a study that names its values."""
    data = tables.shared_data()
    if data is None:
        print("skipped: no real tables here")
        return
    print("census: 100,000 records, k = 50, five sites, age as a range of whole numbers")
    with open(data / "census7" / "census7.csv", newline="", encoding="utf-8") as file:
        rows = list(itertools.islice(csv.reader(file), 100_001))
    table = folder / "census.csv"
    with open(table, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    text = '[study]\nname = "census"\npartition = "horizontal"\n'
    for place, name in enumerate(rows[0]):
        role = "sensitive" if name in ("occupation", "income") else "quasi"
        values = sorted({row[place] for row in rows[1:]})
        text += f'\n[[attribute]]\nname = "{name}"\nrole = "{role}"\n'
        text += 'type = "integer"\nrange = [0, 90]\n' if name == "age" else f"values = {json.dumps(values)}\n"
    text += '\n[require]\nk = 50\n\n[algorithm]\nname = "clustering"\n'
    study = folder / "census.toml"
    study.write_text(text, encoding="utf-8")
    options = ["--sites", 5, "--split", "random"]
    cost = simulate(study, table, folder, *options)
    verdict = hedgerow("verify", folder / "release", "--study", study, "--original", table)
    loss = verdict["utility"]["ncp_present"]
    print(f"    {loss:.2%} lost, of the values present")
    at_most("rounds of the census", cost["rounds"], 3000)
    at_most("hundredths of a percent lost", round(loss * 10_000), 720)


def main():
    asked = sys.argv[2:] or ["demo", "census"]
    with tempfile.TemporaryDirectory() as folder:
        for name in asked:
            {"demo": demo, "census": census}[name](pathlib.Path(folder))
    return f"missed: {', '.join(MISSED)}" if MISSED else 0


sys.exit(main())
