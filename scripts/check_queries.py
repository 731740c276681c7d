"""Recounts answers of `hedgerow query` by hand, on random tables and on Adult: this script shares nothing
with the program but the release folder and the raw rows.

Usage: check_queries.py PATH-TO-HEDGEROW [CONDITIONS-FOR-EACH-RELEASE [SEED]]

Releases of every algorithm and recoding are made of skewed rows with missing values, negative numbers, days,
orders and several sensitive attributes. For each random condition four totals are asked for, with bounds: the
truth on the raw rows must lie inside, and least, estimate, most and error must be what the cells of the
release say, counted here value by value. `hedgerow-sql` must be beside `hedgerow` or on PATH. Adult is asked
where ../shared/data or HEDGEROW_DATA has it.
"""

import collections
import csv
import datetime
import functools
import itertools
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import tables

MISSING = None


class Column:
    """A column of a study: its values in their order, the missing one as None."""

    def __init__(self, name, role, kind, values, lines, paths=None, ordered=True):
        self.name, self.role, self.kind, self.values, self.lines = name, role, kind, values, lines
        self.ordered = ordered
        self.present = [value for value in values if value is not MISSING]
        self.nodes = {}
        for path in paths or []:
            value = MISSING if path[0] == "" else path[0]
            for node in path[1:]:
                self.nodes.setdefault(node, []).append(value)

    def write(self, value):
        if value is MISSING:
            return "" if self.kind == "text" else "NA"
        return str(value)

    def read(self, text):
        if text == self.write(MISSING) and MISSING in self.values:
            return MISSING
        if self.kind == "number":
            return int(text)
        if self.kind == "day":
            return datetime.date.fromisoformat(text)
        return text

    @functools.lru_cache(maxsize=None)
    def cell(self, text):
        """The values that a cell stands for."""
        if text == "*" or text in self.nodes:
            return tuple(self.values if text == "*" else self.nodes[text])
        if text == '""':
            return (MISSING,)
        if match := re.fullmatch(r"\[(.+)\.\.(.+)\]|\[(-?\d+)-(-?\d+)\]", text):
            least, greatest = (self.read(part) for part in match.groups() if part is not None)
            low, high = self.values.index(least), self.values.index(greatest)
            return tuple(self.values[low : high + 1])
        if text.startswith("{"):
            return tuple(MISSING if part == '""' else self.read(part) for part in text[1:-1].split("|"))
        return (self.read(text),)

    def constant(self, value):
        return str(value) if self.kind == "number" else "'" + str(value).replace("'", "''") + "'"


def numbers(name, role, least, greatest, step=1, missing=False, extra=()):
    values = list(range(least, greatest + 1, step)) + [MISSING] * missing
    lines = ['type = "integer"', f"range = [{least}, {greatest}]", *extra]
    lines += [f"step = {step}"] * (step > 1) + ['missing = "NA"'] * missing
    return Column(name, role, "number", values, lines)


def days(name, role, first, count, missing=False):
    values = [first + datetime.timedelta(day) for day in range(count)]
    lines = ['type = "date"', f'range = ["{values[0]}", "{values[-1]}"]'] + ['missing = "NA"'] * missing
    return Column(name, role, "day", values + [MISSING] * missing, lines)


def texts(name, role, values, ordered=False):
    lines = ["values = " + json.dumps(values)] + ["ordered = true"] * ordered
    return Column(name, role, "text", [value or MISSING for value in values], lines, ordered=ordered)


def tree(name, role, paths, file, ordered=False):
    # Values stand in the order of the tree's leaves, children in the order of their first lines.
    first = {}
    for line, path in enumerate(paths):
        for level in range(len(path)):
            first.setdefault(path[level:], line)
    order = lambda path: [first[path[level:]] for level in range(len(path) - 1, -1, -1)]
    values = [path[0] or MISSING for path in sorted(paths, key=order)]
    lines = [f'taxonomy = "{file}"'] + ["ordered = true"] * ordered
    column = Column(name, role, "text", values, lines, paths, ordered)
    column.file = (file, "".join(";".join(path) + "\n" for path in paths))
    return column


def yard(draw, vertical):
    """Columns and rows of a made-up table, values skewed."""
    zips = [(f"{a}{b}{c}", f"{a}{b}*", f"{a}**", "*") for a in "12" for b in "0123" for c in "05"]
    ills = [("flu", "airways", "*"), ("asthma", "airways", "*"), ("ulcer", "gut", "*"), ("", "gut", "*")]
    ills += [("angina", "heart", "*"), ("failure", "heart", "*")]
    missing = not vertical
    columns = [
        numbers("age", "quasi", -20, 59, missing=missing, extra=["widths = [5, 20, 40]"] * vertical),
        tree("zip", "quasi", zips, "zip.csv"),
        texts("grade", "quasi", ["low", "mid", "high", "top"], ordered=True),
        tree("ill", "sensitive", ills, "ill.csv"),
        numbers("cost", "sensitive", -40, 60, missing=True),
        texts("mood", "sensitive", ["bad", "fair", "good"], ordered=True),
        numbers("visits", "other", -10, 40, step=5),
    ]
    if not vertical:
        columns[2:2] = [days("seen", "quasi", datetime.date(2023, 12, 20), 60, missing=True)]
        columns[3:3] = [texts("job", "quasi", ["farmer", "", "smith", "baker"])]
    skew = {column.name: draw.choice([1, 2, 4]) for column in columns}
    pick = lambda column: column.values[int(len(column.values) * draw.random() ** skew[column.name])]
    return columns, [[pick(column) for column in columns] for _ in range(draw.randrange(150, 500))]


def adult(draw):
    """Adult with ages as numbers and two sensitive columns."""
    folder = tables.shared_data() / "adult9"
    with open(folder / "adult.csv", encoding="utf-8") as file:
        records = draw.sample(list(csv.DictReader(file, delimiter=";")), 4000)
    columns = []
    for name in ["sex", "age", "race", "marital-status", "education", "workclass", "occupation", "salary-class"]:
        role = "sensitive" if name in ("occupation", "salary-class") else "quasi"
        if name == "age":
            columns.append(numbers(name, role, 17, 90))
            continue
        file = f"adult_hierarchy_{name}.csv"
        paths = [tuple(line.split(";")) for line in (folder / file).read_text(encoding="utf-8").splitlines() if line]
        columns.append(tree(name, role, paths, file))
    return columns, [[column.read(record[column.name]) for column in columns] for record in records]


class Asked:
    """A release with its raw rows."""

    def __init__(self, binary, folder, columns, rows, head, tail, how):
        self.binary, self.columns, self.raw = binary, columns, rows
        self.places = {column.name: place for place, column in enumerate(columns)}
        study = head
        for column in columns:
            study += tables.attribute(column.name, column.role, *column.lines)
            if hasattr(column, "file"):
                (folder / column.file[0]).write_text(column.file[1], encoding="utf-8")
        (folder / "study.toml").write_text(study + tail, encoding="utf-8")
        vertical = "vertical" in head
        with open(folder / "all.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["number"] * vertical + [column.name for column in columns])
            for number, row in enumerate(rows):
                cells = [column.write(value) for column, value in zip(columns, row)]
                writer.writerow([number] * vertical + cells)
        self.release = folder / "release"
        command = [binary, *how, "--study", folder / "study.toml", folder / "all.csv", "--out", self.release]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{command}: {done.stderr}")
        self.groups = self.read()

    def read(self):
        """Rows of the release by what is printed of quasi-identifiers: cells, and the rows of every other
        column; in a fragmented release by group."""
        if (self.release / "release.csv").exists():
            groups = collections.defaultdict(list)
            for row in self.table("release.csv"):
                cells = tuple(tuple(c.cell(row[c.name])) if c.role == "quasi" else (c.read(row[c.name]),) for c in self.columns)
                groups[cells].append(row)
            return {"whole": [(cells, len(rows)) for cells, rows in groups.items()]}
        fragments = {}
        for column in self.columns:
            file = "quasi.csv" if column.role == "quasi" else f"{column.role}-{column.name}.csv"
            for row in self.table(file):
                group = fragments.setdefault(row["group"], {})
                cell = column.cell(row[column.name]) if column.role == "quasi" else (column.read(row[column.name]),)
                group.setdefault(column.name, []).append(tuple(cell))
        return {"fragments": list(fragments.values())}

    def table(self, name):
        with open(self.release / name, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                # Guards of text that a spreadsheet would run.
                yield {key: text[1:] if text.startswith("'") else text for key, text in row.items()}

    def ask(self, sql, mode="bounds"):
        command = [self.binary, "query", str(self.release), "--answer", mode, "--json", sql]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{sql}: {done.stderr}")
        return json.loads(done.stdout)["rows"]


class Leaf:
    """A comparison of one column, by the values that satisfy it."""

    def __init__(self, column, text, accepts, of_missing=False):
        self.column, self.text, self.accepts, self.of_missing = column, text, accepts, of_missing

    def sql(self):
        return self.text

    def leaves(self):
        return [self]

    def truth(self, row):
        value = row(self.column)
        if value is MISSING and not self.of_missing:
            return None
        return self.accepts(value)


class Joined:
    """AND, OR or NOT, with three truths."""

    def __init__(self, word, parts):
        self.word, self.parts = word, parts

    def sql(self):
        if self.word == "NOT":
            return f"NOT ({self.parts[0].sql()})"
        return "(" + f" {self.word} ".join(part.sql() for part in self.parts) + ")"

    def leaves(self):
        return [leaf for part in self.parts for leaf in part.leaves()]

    def truth(self, row):
        truths = [part.truth(row) for part in self.parts]
        if self.word == "NOT":
            return None if truths[0] is None else not truths[0]
        decides = self.word == "OR"
        if decides in truths:
            return decides
        return None if None in truths else not decides


def comparison(draw, columns):
    column = draw.choice(columns)
    name = f'"{column.name}"'
    a, b = draw.choice(column.present), draw.choice(column.present)
    const = column.constant
    is_ordered = column.kind != "text" or column.ordered
    at = column.present.index
    kinds = ["=", "<>", "in", "not in"] + ["null", "not null"] * (MISSING in column.values)
    kinds += ["<", "<=", ">", ">=", "between", "turned"] * is_ordered + ["under"] * 3 * bool(column.nodes)
    kinds += ["like"] * (column.kind == "text") + ["half"] * (column.kind == "number")
    kind = draw.choice(kinds)
    if kind == "=":
        return Leaf(column, f"{name} = {const(a)}", lambda v: v == a)
    if kind == "<>":
        return Leaf(column, f"{const(a)} <> {name}", lambda v: v != a)
    if kind in ("in", "not in"):
        return Leaf(column, f"{name} {kind} ({const(a)}, {const(b)})", lambda v: (v in (a, b)) == (kind == "in"))
    if kind == "null":
        return Leaf(column, f"{name} IS NULL", lambda v: v is MISSING, True)
    if kind == "not null":
        return Leaf(column, f"{name} IS NOT NULL", lambda v: v is not MISSING, True)
    if kind == "<":
        return Leaf(column, f"{name} < {const(a)}", lambda v: at(v) < at(a))
    if kind == "<=":
        return Leaf(column, f"{name} <= {const(a)}", lambda v: at(v) <= at(a))
    if kind == ">":
        return Leaf(column, f"{name} > {const(a)}", lambda v: at(v) > at(a))
    if kind == ">=":
        return Leaf(column, f"{name} >= {const(a)}", lambda v: at(v) >= at(a))
    if kind == "turned":
        return Leaf(column, f"{const(a)} < {name}", lambda v: at(a) < at(v))
    if kind == "half":
        return Leaf(column, f"{name} < {a} + 0.5", lambda v: v < a + 0.5)
    if kind == "between":
        return Leaf(column, f"{name} BETWEEN {const(a)} AND {const(b)}", lambda v: at(a) <= at(v) <= at(b))
    if kind == "under":
        node = draw.choice(list(column.nodes))
        return Leaf(column, f"under({name}, '{node}')", lambda v: v in column.nodes[node])
    letter = draw.choice(a)
    return Leaf(column, f"{name} LIKE '%{letter}%'", lambda v: letter in v)


def condition(draw, columns, depth):
    if depth == 0 or draw.random() < 0.2:
        return comparison(draw, columns)
    word = draw.choice(["AND", "AND", "OR", "OR", "NOT"])
    parts = 1 if word == "NOT" else draw.randrange(2, 4)
    return Joined(word, [condition(draw, columns, depth - 1) for _ in range(parts)])


def ways(cells, leaves, summed):
    """Every way in which cells may decide the leaves: for each column its values, parted by what the leaves
    say of them and, in the column that is summed, by the value; with the probability."""
    by_column = []
    for column, values in cells.items():
        own = [leaf for leaf in leaves if leaf.column is column]
        parts = collections.Counter()
        for value in values:
            said = tuple(leaf.truth(lambda _: value) for leaf in own)
            parts[said, value if column is summed else 0] += 1
        example = {}
        for value in values:
            said = tuple(leaf.truth(lambda _: value) for leaf in own)
            example[said, value if column is summed else 0] = value
        by_column.append([(column, example[part], count / len(values)) for part, count in parts.items()])
    for way in itertools.product(*by_column):
        yield {column: value for column, value, _ in way}, math.prod(share for _, _, share in way)


def expected(asked, where, of):
    """Least, estimate, most and variance of a total by hand: `of` is None for rows, or a column and whether its
    values are counted or summed."""
    leaves = where.leaves()
    summed = of and of[0]
    columns = {leaf.column for leaf in leaves} | ({summed} if summed else set())
    known, total = {}, [0, 0.0, 0, 0.0]
    for cells, count in asked.groups["whole"]:
        own = {column: cells[asked.places[column.name]] for column in columns}
        key = tuple(own[column] for column in columns)
        if key not in known:
            known[key] = row_adds(own, where, leaves, of)
        for place, number in enumerate(known[key]):
            total[place] += number * count
    return total


def row_adds(cells, where, leaves, of):
    adds = []
    for values, probability in ways(cells, leaves, of and of[0]):
        number = 0
        if where.truth(lambda column: values[column]):
            value = values[of[0]] if of else 1
            number = 0 if value is MISSING else 1 if not of or of[1] == "count" else value
        adds.append((number, probability))
    mean = sum(number * probability for number, probability in adds)
    square = sum(number * number * probability for number, probability in adds)
    return min(n for n, _ in adds), mean, max(n for n, _ in adds), square - mean * mean


def check(asked, draw, conditions, name):
    faults = []
    whole = "whole" in asked.groups
    measures = [column for column in asked.columns if column.kind == "number"]
    table = '"yard"'
    for _ in range(conditions):
        where = condition(draw, asked.columns, 2)
        of = draw.choice(measures)
        sql = where.sql()
        c = f'"{of.name}"'
        found = asked.ask(f"SELECT count(*) AS n, count({c}) AS c, sum({c}) AS s, avg({c}) AS a FROM {table} WHERE {sql}")[0]
        kept = [row for row in asked.raw if where.truth(lambda column: row[asked.places[column.name]])]
        values = [row[asked.places[of.name]] for row in kept]
        values = [value for value in values if value is not MISSING]
        truths = {"n": len(kept), "c": len(values), "s": sum(values), "a": sum(values) / len(values) if values else None}
        for total, truth in truths.items():
            low, high = found[f"{total}_low"], found[f"{total}_high"]
            if truth is not None and low is not None and not low - 1e-9 <= truth <= high + 1e-9:
                faults.append(f"{name}: {total} of {of.name}: {truth} not in [{low}, {high}]: {sql}")
        if whole:
            for total, what in {"n": None, "c": (of, "count"), "s": (of, "sum")}.items():
                by_hand = expected(asked, where, what)
                by_hand[3] = math.sqrt(max(by_hand[3], 0))
                told = [found[total + part] for part in ("_low", "", "_high", "_error")]
                far = [abs(a - b) > 1e-4 * (1 + abs(b)) for a, b in zip(told, by_hand)]
                if any(far):
                    faults.append(f"{name}: {total} of {of.name}: {told}, by hand {by_hand}: {sql}")
        # Another mode, through a nested query and a group; groups add up to the same.
        mode, part = draw.choice([("certain", "_low"), ("estimate", ""), ("possible", "_high")])
        by = draw.choice(asked.columns).name
        nested = f'SELECT sum(m) AS n FROM (SELECT "{by}", count(*) AS m FROM (SELECT * FROM {table} WHERE {sql}) t GROUP BY "{by}") u'
        together = asked.ask(nested, mode)[0]["n"] or 0
        apart = not whole
        near = abs(together - found["n" + part]) < 1e-4 * (1 + together)
        if not near and not (apart and mode != "estimate"):
            faults.append(f"{name}: groups of {by} ({mode}): {together}, not {found['n' + part]}: {sql}")
    print(f"{name}: {len(asked.raw)} rows, {conditions} conditions, {len(faults)} faults", flush=True)
    return faults


def main():
    binary = sys.argv[1]
    conditions = int(sys.argv[2]) if sys.argv[2:] else 40
    draw = random.Random(int(sys.argv[3]) if sys.argv[3:] else 16)
    head = '[study]\nname = "yard"\npartition = "horizontal"\n'
    faults = []
    for algorithm, recode, how in [
        ("mondrian", "range", ["anonymize", "--force"]),
        ("mondrian", "node", ["simulate", "--force", "--sites", "3"]),
        ("mondrian", "set", ["anonymize", "--force"]),
        ("provider-aware", "range", ["simulate", "--force", "--sites", "2"]),
        ("clustering", "node", ["simulate", "--force", "--sites", "2"]),
        ("clustering", "set", ["anonymize", "--force"]),
        ("clustering", "range", ["anonymize", "--force"]),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            columns, rows = yard(draw, False)
            require = "k = 3\nm = 1\n" if algorithm == "provider-aware" else "k = 3\n"
            tail = f'[require]\n{require}[algorithm]\nname = "{algorithm}"\nrecode = "{recode}"\n'
            asked = Asked(binary, pathlib.Path(folder), columns, rows, head, tail, how)
            faults += check(asked, draw, conditions, f"{algorithm}, {recode}")
    sites = '[[site]]\nname = "{}"\naddress = "127.0.0.1:740{}"\nkey = "ed25519:…"\ncolumns = {}\n'
    owned = [["age", "grade", "ill"], ["zip", "cost"], ["mood", "visits"]]
    vertical = head.replace("horizontal", "vertical")
    vertical += "".join(sites.format("abc"[n], n, json.dumps(own)) for n, own in enumerate(owned))
    vertical += tables.attribute("number", "identifier")
    for algorithm, more in [("d2pt", 'anonymizer = "datafly"\n'), ("clustering", "")]:
        for how in ["anonymize", "--force"], ["simulate", "--force"]:
            with tempfile.TemporaryDirectory() as folder:
                columns, rows = yard(draw, True)
                tail = f'[identity]\ncolumns = ["number"]\n[require]\nk = 3\n[algorithm]\nname = "{algorithm}"\n{more}'
                asked = Asked(binary, pathlib.Path(folder), columns, rows, vertical, tail, how)
                faults += check(asked, draw, conditions, f"vertical {algorithm}, {how[0]}")
    if tables.shared_data():
        for algorithm, recode in [("mondrian", "range"), ("clustering", "node")]:
            with tempfile.TemporaryDirectory() as folder:
                columns, rows = adult(draw)
                tail = f'[require]\nk = 10\n[algorithm]\nname = "{algorithm}"\nrecode = "{recode}"\n'
                asked = Asked(binary, pathlib.Path(folder), columns, rows, head, tail, ["anonymize", "--force"])
                faults += check(asked, draw, conditions, f"Adult, {algorithm}, {recode}")
    sys.exit("\n".join(faults) or 0)


main()
