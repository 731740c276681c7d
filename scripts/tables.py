"""Tables for the comparisons and benchmarks: random generalized ones, and the Adult table."""

import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def shared_data():
    """The folder of real tables; None where HEDGEROW_DATA is not set and nothing lies beside the
    checkout. A folder that should be there and cannot be read is an error."""
    beside = ROOT.parent / "shared" / "data"
    named = os.environ.get("HEDGEROW_DATA")
    if named is None and not os.path.lexists(beside):
        return None
    folder = beside if named is None else pathlib.Path(named)
    try:
        os.listdir(folder)
    except OSError as error:
        sys.exit(f"{folder}: the real tables should be here and cannot be read: {error}")
    return folder


def skip(missing, hint):
    """Says that the comparison with a real table is skipped, and lists that for scripts/test.sh."""
    print(f"skipped: the comparison with Adult: no {missing} here; {hint}")
    if listed := os.environ.get("HEDGEROW_SKIPPED"):
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"{missing}\tcompare_pycanon.py Adult\n")


class Table:
    """A release with its study, as files in a folder."""

    # Something that always holds, where the distance of t must be said.
    against = "k = 1"

    def __init__(self, name, header, rows, quasi, sensitive, study, taxonomies):
        self.name, self.header, self.rows = name, header, rows
        self.quasi, self.sensitive = quasi, sensitive
        self.study, self.taxonomies = study, taxonomies

    def write(self, folder):
        for name, text in self.taxonomies.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "study.toml").write_text(self.study, encoding="utf-8")
        with open(folder / "release.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.header)
            writer.writerows(self.rows)
        return folder / "release.csv", folder / "study.toml"


def attribute(name, role, *lines):
    return "\n".join([f'[[attribute]]\nname = "{name}"\nrole = "{role}"', *lines, ""])


HEAD = '[study]\nname = "comparison"\npartition = "horizontal"\n'


def random_table(seed):
    """A random generalized table: sizes, classes and kinds of sensitive attributes vary."""
    draw = random.Random(seed)
    if seed % 3 == 0:  # fine cells, classes of one
        rows = draw.choice([5, 12, 40, 120])
        width, digits = draw.choice([1, 5, 10, 20]), draw.choice([1, 2, 3])
    else:  # coarse cells, larger classes
        rows = draw.choice([60, 400, 1000])
        width, digits = draw.choice([25, 50]), draw.choice([0, 1])
    kinds = [["category"], ["number"], ["category", "number"], ["category", "category"]][seed % 4]
    zips = [f"{draw.randrange(10, 40)}{draw.randrange(10)}" for _ in range(25)]
    zips = sorted(set(zips))
    taxonomy = "".join(f"{z};{z[:2]}*;{z[:1]}**;*\n" for z in zips)
    study = HEAD
    study += attribute("age", "quasi", 'type = "integer"', "range = [0, 99]")
    study += attribute("zip", "quasi", 'taxonomy = "zip.csv"')
    header = ["age", "zip"]
    columns = []
    age = [draw.randrange(100) for _ in range(rows)]
    columns.append([str(a) if width == 1 else f"[{a // width * width}-{a // width * width + width - 1}]" for a in age])
    columns.append([(z := draw.choice(zips))[:digits] + "*" * (3 - digits) if digits else "*" for _ in range(rows)])
    sensitive = []
    for index, kind in enumerate(kinds):
        name = f"s{index}"
        sensitive.append(name)
        values = draw.randrange(2, 9)
        weights = [draw.random() ** 2 + 0.02 for _ in range(values)]
        if kind == "category":
            labels = [f"v{v}" for v in range(values)]
            study += attribute(name, "sensitive", f"values = {labels!r}".replace("'", '"'))
        else:
            # Gaps between the numbers: ranks, not differences, make the ordered distance.
            labels = sorted(draw.sample(range(50), values))
            study += attribute(name, "sensitive", 'type = "integer"', "range = [0, 49]")
        column = draw.choices(labels, weights, k=rows)
        column[:2] = labels[:2]  # at least two values, or the ordered distance divides by 0
        columns.append(column)
        header.append(name)
    return Table(f"random {seed}", header, list(zip(*columns)), ["age", "zip"], sensitive, study, {"zip.csv": taxonomy})


def census_table(binary, rows):
    """A synthetic census: ages in intervals of 20, sex and race as they are, the rest suppressed."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "census"
        command = [binary, "generate", "census", "--rows", str(rows), "--out", out]
        subprocess.run(command, check=True, capture_output=True)
        study = (out / "study.toml").read_text(encoding="utf-8")
        taxonomies = {
            path.name: path.read_text(encoding="utf-8") for path in (out / "taxonomies").iterdir()
        }
        with open(out / "north.csv", encoding="utf-8") as file:
            records = list(csv.DictReader(file))
    # Files lie beside the study here, and nothing is demanded: all is measured.
    study = study.replace("taxonomies/", "").split("[require]")[0]
    least, greatest = map(int, re.search(r'name = "age".*?range = \[(\d+), (\d+)\]', study, re.S).groups())
    header = list(records[0])
    sensitive = ["salary-class"]
    quasi = [name for name in header if name not in sensitive]
    out_rows = []
    for record in records:
        age = int(record["age"]) // 20 * 20
        cells = {"age": f"[{max(age, least)}-{min(age + 19, greatest)}]", "sex": record["sex"], "race": record["race"]}
        out_rows.append([record[name] if name in sensitive else cells.get(name, "*") for name in header])
    table = Table("census", header, out_rows, quasi, sensitive, study, taxonomies)
    # Salary classes have an order, which pyCANON cannot know of text.
    table.against = 't = { at_most = 1, distance = "equal" }'
    return table


ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def adult_table(rows, levels, seed=1):
    """The Adult table, full-domain generalized to these levels of its hierarchies; a sample of
    `rows` records, or all."""
    folder = shared_data() / "adult9"
    hierarchies, texts = {}, {}
    study = HEAD
    for name in ADULT + ["salary-class"]:
        file = f"adult_hierarchy_{name}.csv"
        texts[file] = (folder / file).read_text(encoding="utf-8")
        paths = [line.split(";") for line in texts[file].splitlines() if line]
        hierarchies[name] = {path[0]: path for path in paths}
        role = "sensitive" if name == "salary-class" else "quasi"
        study += attribute(name, role, f'taxonomy = "{file}"')
    with open(folder / "adult.csv", encoding="utf-8") as file:
        records = list(csv.DictReader(file, delimiter=";"))
    if rows is not None:
        records = random.Random(seed).sample(records, rows)
    out = []
    for record in records:
        row = []
        for name in ADULT:
            path = hierarchies[name][record[name]]
            row.append(path[min(levels[name], len(path) - 1)])
        out.append(row + [record["salary-class"]])
    return Table("Adult", ADULT + ["salary-class"], out, ADULT, ["salary-class"], study, texts)


class Run:
    """A command's answer as JSON, or why there is none."""

    def __init__(self, done):
        self.refused = done.stderr.strip() or "it does not hold" if done.returncode else ""
        self.answer = json.loads(done.stdout) if done.stdout else {}


def run(binary, *arguments):
    """Runs hedgerow with --json."""
    return Run(subprocess.run([binary, *map(str, arguments), "--json"], capture_output=True, text=True))


def adult_study(folder, require, recode, cuts=None, algorithm="mondrian"):
    """Writes a study of the Adult table (QI8, ages in order) with its taxonomies; the study's path
    and the original's."""
    table = adult_table(0, dict.fromkeys(ADULT, 0))
    age = 'taxonomy = "adult_hierarchy_age.csv"'
    assert age in table.study
    table.study = table.study.replace(age, f"{age}\nordered = true")
    table.study += f'[require]\n{require}\n[algorithm]\nname = "{algorithm}"\nrecode = "{recode}"\n'
    if cuts:
        table.study += f'cuts = "{cuts}"\n'
    _, study = table.write(folder)
    return study, shared_data() / "adult9" / "adult.csv"
