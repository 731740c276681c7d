"""Attacks releases of real and generated tables by `hedgerow gate`, and prints what falls with each algorithm and
recoding beside what the setting costs in loss: the tables of docs/src/attacks.md.

Usage: attacks.py PATH-TO-HEDGEROW [TABLE...] [--releases FOLDER] [--write docs/src/attacks.md]

Tables: settings, people, single, newcomers; all if none is named. Needs the real tables of ../shared/data or
HEDGEROW_DATA. People who are not in the table are those of Adult's test set. With --releases, releases are kept there
and made once. With --write, each table replaces the one below its comment in that file. Shares are of records; losses
are NCP over the values present. Fails if a release could not be made, or if an attack on it could not be tried.
"""

import argparse
import csv
import pathlib
import random
import re
import shutil
import sys
import tempfile

import tables

K = "k = 10"
# name, requirement, algorithm, recoding, other lines of [algorithm]
BOX = 'covers = "box"'
SETTINGS = [
    ("Mondrian, node", K, "mondrian", "node", ""),
    ("Mondrian, range", K, "mondrian", "range", ""),
    ("Mondrian, range, box", K, "mondrian", "range", BOX),
    ("Mondrian, set", K, "mondrian", "set", ""),
    ("Mondrian, node, m = 1", f"{K}\nm = 1", "mondrian", "node", ""),
    ("Mondrian, range, box, m = 1", f"{K}\nm = 1", "mondrian", "range", BOX),
    ("Mondrian, node, l = 2", f"{K}\nl = 2", "mondrian", "node", ""),
    ("Mondrian, node, t = 0.2", f"{K}\nt = 0.2", "mondrian", "node", ""),
    ("provider-aware, node, m = 1", f"{K}\nm = 1", "provider-aware", "node", ""),
    ("provider-aware, range, m = 1", f"{K}\nm = 1", "provider-aware", "range", ""),
    ("provider-aware, range, box, m = 1", f"{K}\nm = 1", "provider-aware", "range", BOX),
    ("provider-aware, set, m = 1", f"{K}\nm = 1", "provider-aware", "set", ""),
    ("clustering, node", K, "clustering", "node", ""),
    ("clustering, range", K, "clustering", "range", ""),
    ("clustering, range, box", K, "clustering", "range", BOX),
    ("clustering, set", K, "clustering", "set", ""),
]
COLUMNS = [
    ("order", "order"),
    ("certain", "certain"),
    ("skew", "skew"),
    ("covering", "class found"),
    ("downcoding", "narrowed"),
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

# Columns of the same people at two sites.
HELD = "sex,race,education,workclass,salary-class|age,marital-status,native-country,occupation"
PEOPLE = 8_000
SHARED = [
    ("D2Pt, merge", "d2pt", "", ""),
    ("D2Pt, merge, restored", "d2pt", "", "restore = true"),
    ("cut together, node", "mondrian", "node", ""),
    ("cut together, range", "mondrian", "range", ""),
    ("cut together, set", "mondrian", "set", ""),
    ("clustered together, node", "clustering", "node", ""),
]
SHARED_COLUMNS = [
    ("printed", "printed below k"),
    ("certain", "certain"),
    ("skew", "skew"),
    ("membership", "membership"),
    ("ends", "ends"),
    ("bayes", "Bayes"),
]

CAME = [1, 10, 100, 1_000]


class Data:
    """The Adult table in the forms that attackers and sites have it, as files of a folder."""

    def __init__(self, folder):
        self.folder = folder
        data = tables.shared_data()
        with open(data / "adult9" / "adult.csv", encoding="utf-8") as file:
            self.head, *self.rows = csv.reader(file, delimiter=";")
        draw = random.Random(3)
        sites = [draw.choice("abc") for _ in self.rows]
        self.table = self.write("adult.csv", self.head + ["site"], [row + [site] for row, site in zip(self.rows, sites)])
        self.whole = self.write("whole.csv", self.head, self.rows)
        self.own = [
            self.write(f"own-{one}.csv", self.head, [row for row, site in zip(self.rows, sites) if site == one])
            for one in "abc"
        ]
        with open(data / "adult14" / "adult14.csv", encoding="utf-8") as file:
            everybody = list(csv.DictReader(file))
        strangers = [[row[name] for name in self.head] for row in everybody[len(self.rows) :]]
        self.holdout = self.write("holdout.csv", self.head, strangers)

    def write(self, name, head, rows):
        path = self.folder / name
        if not path.exists():
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(head)
                writer.writerows(rows)
        return path


class Attacks:
    """Releases, made where they are not there, and what falls of them."""

    def __init__(self, binary, data):
        self.binary, self.data, self.wrong = binary, data, []

    def place(self, name):
        place = self.data.folder / "".join(letter if letter.isalnum() else "-" for letter in name)
        place.mkdir(exist_ok=True)
        return place

    def made(self, place, command, *options):
        if not (place / "manifest.json").exists():
            made = tables.run(self.binary, command, "--force", *options, "--out", place)
            if made.refused:
                sys.exit(f"{place}: {made.refused}")
        return place

    def loss(self, out, study, original):
        """A loss over the values present; of a release of fragments, over the declared ones."""
        said = tables.run(self.binary, "verify", out, "--study", study, "--original", original).answer["utility"]
        return said.get("ncp_present", said["ncp"])

    def found(self, name, out, study, *options):
        """What each attack found; an attack that was to be tried and was not is wrong."""
        gated = tables.run(self.binary, "gate", out, "--study", study, *options)
        if not gated.answer:
            sys.exit(f"{name}: {gated.refused}")
        found = {one["attack"]: one for one in gated.answer["attacks"]}
        self.wrong += [f"{name}: {one}: not tried" for one, said in found.items() if said["verdict"] == "not_tried"]
        return found

    def of_sites(self, setting, seed=7):
        """A release of three sites of different people, and its study."""
        name, require, algorithm, recode, more = setting
        place = self.place(name if seed == 7 else f"{name} {seed}")
        study, _ = tables.adult_study(place, require, recode, None, algorithm)
        study.write_text(study.read_text() + more + "\n")
        options = ["--study", study, self.data.table, "--provider-column", "site", "--seed", seed]
        return self.made(place / "out", "simulate", *options), study

    def against_sites(self, name, out, study, earlier):
        """All attacks by everybody who has anything."""
        options = [word for path in self.data.own for word in ("--own", path)]
        options += ["--holdout", self.data.holdout, "--earlier", earlier, "--skip", SKIP]
        return self.found(name, out, study, *options)


def percent(share):
    """Small shares keep a digit, so that nothing is rounded to nothing."""
    return f"{share:.1%}" if 0 < share < 0.01 else f"{share:.0%}"


def shown(found):
    """What falls, and what of that falls without the release too."""
    if "share" not in found:
        return "-"
    control = found.get("control", {}).get("share")
    return percent(found["share"]) + (f" ({percent(control)})" if control is not None else "")


def lines(head, rows):
    """A table of Markdown, a row at a time, as rows are found."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def settings(attacks):
    """Different people at three sites: every algorithm and recoding."""

    def rows():
        # The first release is the earlier one of all others, and of itself, which tells nothing.
        first = attacks.of_sites(SETTINGS[0])[0]
        for setting in SETTINGS:
            out, study = attacks.of_sites(setting)
            loss = attacks.loss(out, study, attacks.data.whole)
            found = attacks.against_sites(setting[0], out, study, first)
            yield [setting[0], f"{loss:.2%}"] + [shown(found[name]) for name, _ in COLUMNS]

    yield from lines(["setting", "loss"] + [words for _, words in COLUMNS], rows())


def people(attacks):
    """The same people at two sites: every algorithm and recoding."""
    data = attacks.data
    own = data.rows[:PEOPLE]
    table = data.write("people.csv", ["id"] + data.head, [[number] + row for number, row in enumerate(own)])
    whole = data.write("people-whole.csv", data.head, own)

    def rows():
        for name, algorithm, recode, more in SHARED:
            place = attacks.place(f"people {name}")
            study, _ = tables.adult_study(place, K, recode or "node", None, algorithm)
            text = study.read_text().replace('"horizontal"', '"vertical"')
            text = text.replace("[[attribute]]", tables.attribute("id", "identifier") + "[[attribute]]", 1)
            text = text if recode else text.replace('recode = "node"\n', "")
            study.write_text(text + more + "\n")
            out = attacks.made(place / "out", "simulate", "--study", study, table, "--columns", HELD, "--seed", 7)
            loss = attacks.loss(out, study, table)
            options = ["--own", whole, "--holdout", data.holdout]
            options += ["--skip", "newcomers,owner,two_releases,below_k_without_one_site,below_k_without_two_sites"]
            found = attacks.found(name, out, study, *options)
            yield [name, f"{loss:.2%}"] + [shown(found[one]) for one, _ in SHARED_COLUMNS]

    yield from lines(["setting", "loss"] + [words for _, words in SHARED_COLUMNS], rows())


def single(attacks):
    """Attacks that need a table of their own."""
    data = attacks.data

    def row(words, name, finding, limit):
        falls = finding.get("falls", finding.get("because", ""))
        return [words, f"`{name}`", shown(finding), falls, limit(finding)]

    def verdict(finding):
        return finding["verdict"].replace("_", " ")

    def rows():
        # Two seeds of one clustering.
        setting = next(one for one in SETTINGS if one[0] == "clustering, node")
        out, study = attacks.of_sites(setting)
        other, _ = attacks.of_sites(setting, seed=8)
        found = attacks.against_sites("two seeds", out, study, other)["two_releases"]
        yield row("clustering, node: two seeds of one table", "two_releases", found, verdict)
        # Several sensitive attributes.
        for sensitive, require in [("product", "k = 10\nl = 3"), ("both", "k = 10\nl = 2")]:
            place = attacks.place(f"sensitive {sensitive}")
            study, original = tables.adult_study(place, f'{require}\nsensitive = "{sensitive}"', "range")
            text = study.read_text()
            text = re.sub(r'(name = "occupation"\nrole = )"quasi"', r'\1"sensitive"', text)
            study.write_text(text)
            out = attacks.made(place / "out", "anonymize", "--study", study, data.whole)
            loss = attacks.loss(out, study, data.whole)
            found = attacks.found(sensitive, out, study, "--skip", alone_but("product"))["product"]
            words = f"Mondrian, range, salary and occupation sensitive, {require.splitlines()[1]} of "
            words += "the product" if sensitive == "product" else "each and the product"
            yield row(f"{words} (loss {loss:.2%})", "product", found, verdict)
        # A column that is published as it is.
        place = attacks.place("hospital")
        if not (place / "hospital").exists():
            options = ["--rows", 2_000, "--sites", 4, "--pooled", "--out", place / "hospital"]
            tables.run(attacks.binary, "generate", "hospital", *options)
        study, table = place / "hospital" / "study.toml", place / "hospital" / "hospital.csv"
        out = attacks.made(place / "out", "simulate", "--study", study, table, "--provider-column", "site")
        found = attacks.found("other columns", out, study, "--skip", alone_but("other"))["other"]
        yield row("the generated hospitals: who knows a published value", "other", found, verdict)

    yield from lines(["what", "attack", "falls (control)", "in words", "verdict"], rows())


def alone_but(one):
    """All attacks but one."""
    every = "printed,order,owner,certain,skew,product,other,covering,downcoding,membership,ends"
    every += ",below_k_without_one_site,below_k_without_two_sites,two_releases,newcomers,bayes"
    return ",".join(name for name in every.split(",") if name != one)


def newcomers(attacks):
    """One party, and people who came since: whose value is the difference of two releases."""
    data = attacks.data
    ways = [
        ("node, cuts into children", K, "node", "children", ""),
        ("range, box", K, "range", None, BOX),
        ("node, cuts at medians", K, "node", None, ""),
        ("the same, t = 0.3", f"{K}\nt = 0.3", "node", None, ""),
    ]

    def rows():
        for came in CAME:
            shares = []
            for name, require, recode, cuts, more in ways:
                place = attacks.place(f"newcomers {name} {came}")
                study, _ = tables.adult_study(place, require, recode, cuts)
                study.write_text(study.read_text() + more + "\n")
                before = data.write(f"before-{came}.csv", data.head, data.rows[:-came])
                after = attacks.made(place / "after", "anonymize", "--study", study, data.whole)
                earlier = attacks.made(place / "before", "anonymize", "--study", study, before)
                options = ["--earlier", earlier, "--skip", alone_but("newcomers")]
                found = attacks.found(name, after, study, *options)["newcomers"]
                shares.append(shown(found))
            yield [f"{came:,}"] + shares

    yield from lines(["newcomers"] + [name for name, *_ in ways], rows())


def replaced(text, name, table):
    """A page with this table in the place of the one below the table's comment."""
    comment = f"<!-- attacks.py: {name} -->\n"
    before, found, rest = text.partition(comment)
    if not found:
        sys.exit(f"there is no `{comment.strip()}`")
    after = rest.splitlines(keepends=True)
    while after and after[0].startswith("|"):
        after.pop(0)
    return before + comment + "".join(f"{line}\n" for line in table) + "".join(after)


def main():
    every = {one.__name__: one for one in [settings, people, single, newcomers]}
    parser = argparse.ArgumentParser()
    parser.add_argument("hedgerow")
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--releases")
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    if unknown := set(arguments.tables) - set(every):
        parser.error(f"{', '.join(unknown)}: expected one of {', '.join(every)}")
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    temporary = tempfile.mkdtemp()
    try:
        folder = pathlib.Path(arguments.releases or temporary)
        folder.mkdir(exist_ok=True)
        attacks = Attacks(arguments.hedgerow, Data(folder))
        for name in arguments.tables or every:
            table = []
            print(f"{name}:")
            for line in every[name](attacks):
                print(line, flush=True)
                table.append(line)
            if arguments.write and not attacks.wrong:
                page = replaced(arguments.write.read_text(encoding="utf-8"), name, table)
                arguments.write.write_text(page, encoding="utf-8")
    finally:
        shutil.rmtree(temporary)
    sys.exit("\n".join(attacks.wrong) or 0)


main()
