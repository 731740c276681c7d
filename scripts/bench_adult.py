"""Anonymizes the Adult table (QI8, k = 10) jointly with three and ten random sites, centrally, and
each site alone, and prints what each lost and what the joint run cost.

Usage: bench_adult.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. The loss is NCP over the values present,
comparable only within one way of writing. Fails if the joint release is not the central one, row
for row, if each site alone does not lose more, or if a release does not verify.
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


def compare(folder, study, data, sites):
    """Prints one comparison; what is wrong with it, if anything."""
    out = folder / f"sites-{sites}"
    options = ["--sites", sites, "--split", "random", "--independent", "--out", out]
    run = hedgerow("simulate", "--force", "--study", study, data, *options)
    ways, cost = run["baselines"], run["cost"]
    central, joint, alone = ways["central"], ways["joint"], ways["each_alone"]
    print(
        f"  {sites:2} sites: central {central['ncp_present']:.2%}, joint {joint['ncp_present']:.2%}, "
        f"each alone {alone['ncp_present']:.2%} ({alone['classes']} classes)"
    )
    print(
        f"            joint: {cost['rounds']} rounds, {cost['messages']} messages, {cost['bytes']:,} bytes, "
        f"{cost['wan_seconds']:.1f} s between institutions"
    )
    # The verifier and the one-party command know nothing of the run: they must say the same.
    verdict = hedgerow("verify", out, "--study", study, "--original", data)
    loss = verdict["utility"]["ncp_present"]
    one = (folder / "one" / "release.csv").read_bytes()
    if not ways["joint_equals_central"] or (out / "release.csv").read_bytes() != one:
        yield "the joint release is not the central one"
    if abs(loss - joint["ncp_present"]) > 1e-9:
        yield f"the verifier finds a loss of {loss:.4%}"
    if alone["unpublished"] or alone["ncp_present"] <= joint["ncp_present"]:
        yield "each alone is no proper comparison, or not worse"


def published(folder, study, data):
    """Prints what the same run costs as the papers print it."""
    as_printed = folder / "published.toml"
    head = 'partition = "horizontal"'
    as_printed.write_text(study.read_text().replace(head, f'{head}\nsecurity = "published"'))
    options = ["--sites", 3, "--split", "random", "--out", folder / "published"]
    cost = hedgerow("simulate", "--force", "--study", as_printed, data, *options)["cost"]
    print(
        f"   3 sites, as published: {cost['rounds']} rounds, {cost['messages']} messages, {cost['bytes']:,} bytes, "
        f"{cost['wan_seconds']:.1f} s between institutions"
    )
    if (folder / "published" / "release.csv").read_bytes() != (folder / "one" / "release.csv").read_bytes():
        yield "the published form makes another release"


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    wrong = []
    for recode, cuts in [("range", "median"), ("node", "median"), ("node", "children")]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            study, data = tables.adult_study(folder, "k = 10", recode, cuts)
            one = hedgerow("anonymize", "--force", "--study", study, data, "--out", folder / "one")
            what = f"written as {recode}, cut at {cuts}"
            print(f"{what}: {one['classes']} classes")
            wrong += [f"{what}: {fault}" for fault in published(folder, study, data)]
            for sites in [3, 10]:
                for fault in compare(folder, study, data, sites):
                    wrong.append(f"{what}, {sites} sites: {fault}")
    sys.exit("\n".join(wrong) or 0)


main()
