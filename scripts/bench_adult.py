"""Anonymizes the Adult table (QI8, k = 10) with one, three and ten sites and prints what it cost and
lost.

Usage: bench_adult.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. The loss is NCP over the values present.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import tables


def hedgerow(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    data = tables.shared_data() / "adult9" / "adult.csv"
    adult = tables.adult_table(1, dict.fromkeys(tables.ADULT, 0))
    ordered = adult.study.replace('"adult_hierarchy_age.csv"', '"adult_hierarchy_age.csv"\nordered = true')
    for recode, cuts in [("range", "median"), ("node", "median"), ("node", "children")]:
        adult.study = f'{ordered}[require]\nk = 10\n[algorithm]\nrecode = "{recode}"\ncuts = "{cuts}"\n'
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            _, study = adult.write(folder)
            alone = hedgerow("anonymize", "--study", study, data, "--out", folder / "one")
            verdict = hedgerow("verify", folder / "one", "--study", study, "--original", data)
            loss = verdict["utility"]["ncp_present"]
            print(f"written as {recode}, cut at {cuts}: {alone['classes']} classes, loss {loss:.2%}")
            release = (folder / "one" / "release.csv").read_bytes()
            for sites in [3, 10]:
                many = folder / f"sites-{sites}"
                run = hedgerow("simulate", "--study", study, data, "--sites", sites, "--split", "random", "--out", many)
                same = "the same" if (many / "release.csv").read_bytes() == release else "ANOTHER"
                cost = run["cost"]
                print(
                    f"  {sites} sites: {same} release, {cost['rounds']} rounds, {cost['messages']} messages, "
                    f"{cost['bytes']:,} bytes, {cost['wan_seconds']:.1f} s between institutions"
                )


main()
