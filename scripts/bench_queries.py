"""Sets the query error of answers in SQL beside the one that `hedgerow verify --queries` measures: Adult (QI8),
k = 10, Mondrian beside clustering.

Usage: bench_queries.py PATH-TO-HEDGEROW [QUERIES]

Queries are JX09's: two quasi-identifiers, for each a range of 0.3 of its values in their order; the error is
|actual - estimate| / actual, and queries that nobody satisfies are drawn again. `verify` draws its own queries of
the same kind, so the two figures differ by the draw and by nothing else: both take every value of a cell for
equally likely, and columns for independent. Needs the real tables of ../shared/data or HEDGEROW_DATA, and
`hedgerow-sql` beside `hedgerow` or on PATH.
"""

import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import tables

# So many conditions go into one statement.
AT_ONCE = 20


def leaves(path):
    """The values of a hierarchy in the order of its leaves."""
    rows = [tuple(line.split(";")) for line in path.read_text(encoding="utf-8").splitlines() if line]
    first = {}
    for line, row in enumerate(rows):
        for level in range(len(row)):
            first.setdefault(row[level:], line)
    order = lambda row: [first[row[level:]] for level in range(len(row) - 1, -1, -1)]
    return [row[0] for row in sorted(rows, key=order)]


def draw(random_, values):
    query = []
    for name in random_.sample(tables.ADULT, 2):
        width = max(1, round(0.3 * len(values[name])))
        least = random_.randrange(len(values[name]) - width + 1)
        query.append((name, values[name][least : least + width]))
    return query


def sql(query):
    text = lambda value: "'" + value.replace("'", "''") + "'"
    return " AND ".join(f'"{name}" IN ({", ".join(map(text, accepted))})' for name, accepted in query)


def main():
    data = tables.shared_data()
    if not data:
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    binary, wanted = sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 1000
    with open(data / "adult9" / "adult.csv", encoding="utf-8") as file:
        records = list(csv.DictReader(file, delimiter=";"))
    values = {name: leaves(data / "adult9" / f"adult_hierarchy_{name}.csv") for name in tables.ADULT}
    random_, queries = random.Random(9), []
    while len(queries) < wanted:
        query = draw(random_, values)
        accepted = [(name, set(accepted)) for name, accepted in query]
        actual = sum(all(record[name] in own for name, own in accepted) for record in records)
        if actual:
            queries.append((query, actual))
    for algorithm in "mondrian", "clustering":
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            study, table = tables.adult_study(folder, "k = 10", "node", "median")
            text = study.read_text(encoding="utf-8").replace("[algorithm]", f'[algorithm]\nname = "{algorithm}"')
            if algorithm == "clustering":
                text = text.replace('cuts = "median"\n', "")
            study.write_text(text, encoding="utf-8")
            made = tables.run(binary, "anonymize", "--force", "--study", study, table, "--out", folder / "out")
            if made.refused:
                sys.exit(made.refused)
            options = ["--study", study, "--original", table, "--queries", wanted]
            verified = tables.run(binary, "verify", folder / "out", *options).answer["utility"]["query_error"]
            estimates = []
            for start in range(0, len(queries), AT_ONCE):
                some = queries[start : start + AT_ONCE]
                totals = [f"count(*) FILTER (WHERE {sql(query)}) AS n{place}" for place, (query, _) in enumerate(some)]
                statement = f"SELECT {', '.join(totals)} FROM comparison"
                command = [binary, "query", folder / "out", "--json", statement]
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                estimates += json.loads(done.stdout)["rows"][0].values()
            errors = [abs(actual - estimate) / actual for (_, actual), estimate in zip(queries, estimates)]
            mean, median = statistics.mean(errors), sorted(errors)[len(errors) // 2]
            spread = statistics.stdev(errors) / len(errors) ** 0.5
            print(
                f"{algorithm}: SQL mean {mean:.4f} (standard error {spread:.4f}), median {median:.4f}; "
                f"verify mean {verified['mean']:.4f}, median {verified['median']:.4f}; {wanted} queries each",
                flush=True,
            )


main()
