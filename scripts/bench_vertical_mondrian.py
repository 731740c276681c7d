"""Cuts the same people together: Adult (30,162 people, 7 quasi-identifiers, k = 10) with its columns at two and at three
sites, and prints what the release loses and what the run costs beyond the alignment of identifiers.

Usage: bench_vertical_mondrian.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. Fails if a release is not the one that a single party with all
columns makes, if it loses more than horizontal Mondrian on the same columns, if it does not verify, or if rounds or bytes are
above the bars. What alignment costs is what a run costs whose k is everybody: it cuts nothing.
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tables

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
SPLITS = [
    "sex,race,education,workclass|age,marital-status,native-country",
    "sex,marital-status,workclass|age,education|race,native-country",
]
MOST_ROUNDS, MOST_BYTES = 100, 30


def hedgerow(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_people(folder, source):
    """The table with a number for each person, and without, beside its taxonomies; how many people it has."""
    with open(source / "adult.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    for name, columns in [("people.csv", ["id", *QUASI]), ("rows.csv", QUASI)]:
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for number, row in enumerate(rows):
                writer.writerow([number if name == "id" else row[name] for name in columns])
    for name in QUASI:
        shutil.copyfile(source / f"adult_hierarchy_{name}.csv", folder / f"adult_hierarchy_{name}.csv")
    return len(rows)


def write_study(folder, name, partition, k, settings):
    text = f'[study]\nname = "adult"\npartition = "{partition}"\n'
    if partition == "vertical":
        text += tables.attribute("id", "identifier")
    for column in QUASI:
        text += tables.attribute(column, "quasi", f'taxonomy = "adult_hierarchy_{column}.csv"')
    path = folder / name
    path.write_text(f'{text}[require]\nk = {k}\n[algorithm]\nname = "mondrian"\n{settings}\n', encoding="utf-8")
    return path


def loss(out, study):
    verdict = hedgerow("verify", out, "--study", study)
    assert verdict["holds"], out
    return verdict["utility"]["ncp"]


def compare(folder, people, recode, alignments):
    """Prints one way of writing; what is wrong with it, if anything."""
    settings = f'recode = "{recode}"'
    rows = write_study(folder, "rows.toml", "horizontal", 10, f'{settings}\nwidths = "data"')
    one = hedgerow("anonymize", "--force", "--study", rows, folder / "rows.csv", "--out", folder / "horizontal")
    expected = loss(folder / "horizontal", rows)
    print(f"written as {recode}: horizontal, one party: {expected:.2%}, {one['classes']} classes")
    study = write_study(folder, "people.toml", "vertical", 10, settings)
    uncut = write_study(folder, "uncut.toml", "vertical", people, settings)
    hedgerow("anonymize", "--force", "--study", study, folder / "people.csv", "--out", folder / "one")
    for columns in SPLITS:
        options = [folder / "people.csv", "--columns", columns, "--out"]
        cost = hedgerow("simulate", "--force", "--study", study, *options, folder / "cut")["cost"]
        # The same for every way of writing.
        if columns not in alignments:
            alignments[columns] = hedgerow("simulate", "--force", "--study", uncut, *options, folder / "uncut")["cost"]
        aligned = alignments[columns]
        found, sites = loss(folder / "cut", study), columns.count("|") + 1
        a_person = (cost["bytes"] - aligned["bytes"]) / people
        print(
            f"  {sites} sites: {found:.2%}; {cost['rounds']} rounds, {cost['messages']} messages, {cost['bytes']:,} bytes, "
            f"of which {a_person:.1f} a person for cuts; {cost['wan_seconds']:.1f} s between institutions; alignment: "
            f"{aligned['rounds']} rounds, {aligned['bytes'] / people:.1f} bytes a person"
        )
        what = f"{recode}, {sites} sites"
        if (folder / "cut" / "release.csv").read_bytes() != (folder / "one" / "release.csv").read_bytes():
            yield f"{what}: the joint release is not that of one party"
        if found > expected + 1e-9:
            yield f"{what}: a loss of {found:.4%}, horizontally {expected:.4%}"
        if cost["rounds"] > MOST_ROUNDS:
            yield f"{what}: {cost['rounds']} rounds, at most {MOST_ROUNDS}"
        if a_person > MOST_BYTES:
            yield f"{what}: {a_person:.1f} bytes a person, at most {MOST_BYTES}"


def main():
    if not (shared := tables.shared_data()):
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    source, wrong, alignments = shared / "adult9", [], {}
    for recode in ["node", "range", "set"]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            people = write_people(folder, source)
            wrong += compare(folder, people, recode, alignments)
    if wrong:
        sys.exit("MISSED: " + "\nMISSED: ".join(wrong))


main()
