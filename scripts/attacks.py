"""Attacks releases of the Adult table (QI8, k = 10, three sites) by `hedgerow gate`, and prints what falls with
each algorithm and recoding, beside what the setting costs in loss.

Usage: attacks.py PATH-TO-HEDGEROW [--releases FOLDER]

Needs the real tables of ../shared/data or HEDGEROW_DATA. People who are not in the table are those of Adult's
test set. With --releases, releases are kept there and made once. Shares are of records; losses are NCP over the
values present. Fails if a release could not be made, or if an attack on it could not be tried.
"""

import argparse
import csv
import pathlib
import random
import sys
import tempfile

import tables

# name, requirement, algorithm, recoding, other lines of [algorithm]
SETTINGS = [
    ("Mondrian, node", "k = 10", "mondrian", "node", ""),
    ("Mondrian, range", "k = 10", "mondrian", "range", ""),
    ("Mondrian, range, box", "k = 10", "mondrian", "range", 'covers = "box"'),
    ("Mondrian, set", "k = 10", "mondrian", "set", ""),
    ("Mondrian, node, m = 1", "k = 10\nm = 1", "mondrian", "node", ""),
    ("Mondrian, node, l = 2", "k = 10\nl = 2", "mondrian", "node", ""),
    ("Mondrian, node, t = 0.2", "k = 10\nt = 0.2", "mondrian", "node", ""),
    ("provider-aware, range, m = 1", "k = 10\nm = 1", "provider-aware", "range", ""),
    ("clustering, node", "k = 10", "clustering", "node", ""),
    ("clustering, range", "k = 10", "clustering", "range", ""),
    ("clustering, set", "k = 10", "clustering", "set", ""),
]
COLUMNS = [
    ("certain", "certain"),
    ("skew", "skew"),
    ("covering", "class found"),
    ("membership", "membership"),
    ("ends", "ends"),
    ("below_k_without_one_site", "one site"),
    ("below_k_without_two_sites", "two sites"),
    ("two_releases", "two releases"),
    ("bayes", "Bayes"),
]
# What cannot be attacked here: no release of these has another before it with people who came since, or sites
# beside its rows.
SKIP = "newcomers,owner"


def split(folder):
    """The table of three sites, the rows of each, and people who are not in the table; as files."""
    data = tables.shared_data()
    with open(data / "adult9" / "adult.csv", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter=";")
    draw = random.Random(3)
    sites = [draw.choice("abc") for _ in rows]

    def write(name, head, rows):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows(rows)
        return folder / name

    table = write("adult.csv", head + ["site"], [row + [site] for row, site in zip(rows, sites)])
    own = [
        write(f"own-{one}.csv", head, [row for row, site in zip(rows, sites) if site == one])
        for one in "abc"
    ]
    with open(data / "adult14" / "adult14.csv", encoding="utf-8") as file:
        everybody = list(csv.DictReader(file))
    strangers = [[row[name] for name in head] for row in everybody[len(rows) :]]
    return table, own, write("holdout.csv", head, strangers)


def release(binary, folder, table, setting):
    """The folder of a release, and its study; made where it is not there."""
    name, require, algorithm, recode, more = setting
    place = folder / "".join(letter if letter.isalnum() else "-" for letter in name)
    if not (place / "out" / "manifest.json").exists():
        place.mkdir(exist_ok=True)
        study, _ = tables.adult_study(place, require, recode, None, algorithm)
        study.write_text(study.read_text() + more + "\n")
        options = ["--provider-column", "site", "--seed", 7, "--out", place / "out"]
        made = tables.run(binary, "simulate", "--force", "--study", study, table, *options)
        if made.refused:
            sys.exit(f"{name}: {made.refused}")
    return place / "out", place / "study.toml"


def shown(found):
    """What falls, and what of that falls without the release too."""
    if "share" not in found:
        return found["verdict"].replace("_", " ")
    control = found.get("control", {}).get("share")
    return f"{found['share']:.0%}" + (f" ({control:.0%})" if control is not None else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hedgerow")
    parser.add_argument("--releases")
    arguments = parser.parse_args()
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.releases or temporary)
        folder.mkdir(exist_ok=True)
        table, own, holdout = split(folder)
        print("| setting | loss | " + " | ".join(words for _, words in COLUMNS) + " |")
        print("|---|---|" + "---|" * len(COLUMNS))
        first = None
        for setting in SETTINGS:
            out, study = release(arguments.hedgerow, folder, table, setting)
            first = first or out
            lost = tables.run(arguments.hedgerow, "verify", out, "--study", study, "--original", own_whole(folder))
            loss = lost.answer["utility"]["ncp_present"]
            # The first release is the earlier one of all others, and of itself, which tells nothing.
            options = [word for path in own for word in ("--own", path)]
            options += ["--holdout", holdout, "--earlier", first, "--skip", SKIP]
            gated = tables.run(arguments.hedgerow, "gate", out, "--study", study, *options)
            found = {one["attack"]: one for one in gated.answer["attacks"]}
            wrong += [f"{setting[0]}: {name}: not tried" for name, one in found.items() if one["verdict"] == "not_tried"]
            cells = " | ".join(shown(found[name]) for name, _ in COLUMNS)
            print(f"| {setting[0]} | {loss:.2%} | {cells} |", flush=True)
    sys.exit("\n".join(wrong) or 0)


def own_whole(folder):
    """The original table without its column of sites."""
    path = folder / "whole.csv"
    if not path.exists():
        with open(folder / "adult.csv", encoding="utf-8") as file:
            rows = [row[:-1] for row in csv.reader(file)]
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    return path


main()
