"""Runs the Adult table (QI8) with 1, 2, 3, 10 and 100 sites, every split and every kind of requirement,
and checks each release: it is the central one row for row, and `hedgerow verify` finds nothing wrong.

Usage: check_adult.py PATH-TO-HEDGEROW [SITES,...]

Needs the real tables of ../shared/data or HEDGEROW_DATA. What speaks of sites (site diversity, m)
cannot be seen in a release; there the verifier is asked about the rest, and the central run, which
has everybody's rows, is what the joint one is compared with. Takes some minutes.
"""

import pathlib
import sys
import tempfile

import tables

REQUIREMENTS = [
    ("k = 10", ""),
    ('k = 10\nl = { at_least = 2, kind = "distinct" }', ""),
    ('k = 10\nl = { at_least = 1.5, kind = "entropy" }', ""),
    ('k = 10\nl = { at_least = 1.2, kind = "frequency" }', ""),
    ('k = 10\nl = { at_least = 2, kind = "recursive", c = 4 }', ""),
    ('k = 10\nt = { at_most = 0.2, distance = "equal" }', ""),
    ("k = 10\nalpha = 0.9\nbeta = 1.5\ndelta = 1.5", ""),
    ("k = 10", "site_diversity = 2"),
    ("k = 10", "m = 1"),
    ('k = 10\nl = { at_least = 2, kind = "distinct" }', "m = 1"),
    ('k = 10\nt = { at_most = 0.3, distance = "equal" }', "m = 1"),
]
SPLITS = [["round-robin"], ["random"], ["sorted"], ["column", "--by", "native-country,age"]]


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    numbers = [int(word) for word in sys.argv[2].split(",")] if sys.argv[2:] else [1, 2, 3, 10, 100]
    wrong, runs = [], 0
    for visible, of_sites in REQUIREMENTS:
        for algorithm in ["mondrian"] + ["provider-aware"] * of_sites.startswith("m"):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                seen, data = tables.adult_study(folder, visible, "range", "median")
                (folder / "all.toml").write_text(
                    seen.read_text()
                    .replace(visible, f"{visible}\n{of_sites}")
                    .replace("[algorithm]", f'[algorithm]\nname = "{algorithm}"')
                )
                for sites in numbers:
                    if of_sites and sites == 1:
                        continue
                    for split in SPLITS if sites > 1 else SPLITS[:1]:
                        what = " ".join(f"{visible} {of_sites}, {algorithm}, {sites} sites, {split[0]}".split())
                        options = ["--sites", sites, "--split", *split, "--independent", "--out", folder / "out"]
                        run = tables.run(sys.argv[1], "simulate", "--force", "--study", folder / "all.toml", data, *options)
                        runs += 1
                        if run.refused:
                            # Sites that are regions may leave nothing that a requirement allows.
                            print(f"{what}: refused: {run.refused}", flush=True)
                            continue
                        verdict = tables.run(sys.argv[1], "verify", folder / "out", "--study", seen)
                        faults = [
                            "the joint release is not the central one"
                        ] * (not run.answer["baselines"]["joint_equals_central"])
                        faults += [f"it does not verify: {verdict.refused}"] * bool(verdict.refused)
                        faults += ["records are missing"] * (run.answer["records"] != 30162)
                        wrong += [f"{what}: {fault}" for fault in faults]
                        cost = run.answer["cost"]
                        print(f"{what}: {run.answer['classes']} classes, {cost['rounds']} rounds, {cost['bytes']:,} bytes {faults or ''}", flush=True)
    print(f"{runs} runs, {len(wrong)} wrong")
    sys.exit("\n".join(wrong) or 0)


main()
