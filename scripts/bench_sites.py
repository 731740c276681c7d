"""What a run costs as sites grow: the Adult table (QI8, k = 10, as ranges) cut by Mondrian at up to a
thousand random sites, by the command that a person types, with the shape that follows from the number of
sites; and in each shape around the number from which it follows.

Usage: bench_sites.py PATH-TO-HEDGEROW [FEWER]

Needs the real tables of ../shared/data or HEDGEROW_DATA. Messages and bytes are exact. Fails where a bar is
missed: at 100 sites 30,000 messages and 80 MB, at 1,000 sites ten times that, each below 8 GB of memory; or
where a release is not that of three sites, byte for byte. FEWER leaves 1,000 sites out.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import tables

# Sites, and the most messages, bytes and kilobytes of memory.
BARS = {100: (30_000, 80e6, 8e6), 1_000: (300_000, 800e6, 8e6)}
# The shape follows from the number of sites around here.
AROUND = [8, 16, 24, 32]


def simulate(study, data, sites, out):
    """The run's cost and shape, and the most memory that any command took so far, in kilobytes."""
    command = ["simulate", "--force", "--study", study, data, "--sites", sites, "--split", "random", "--out", out]
    done = subprocess.run([sys.argv[1], *map(str, command), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    run = json.loads(done.stdout)
    return run["cost"], run.get("shape", "mesh"), memory


def line(sites, shape, cost):
    return (
        f"{sites:5} sites, {shape}: {cost['rounds']} rounds, {cost['messages']:,} messages, {cost['bytes'] / 1e6:,.1f} MB, "
        f"{cost['wan_seconds']:.1f} s between institutions, {cost['protocol_seconds']:.0f} s here"
    )


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        study, data = tables.adult_study(folder, "k = 10", "range", "median")
        simulate(study, data, 3, folder / "three")
        expected = (folder / "three" / "release.csv").read_bytes()
        text = study.read_text(encoding="utf-8")
        for sites in AROUND:
            for shape in ["mesh", "star", "tree"]:
                said = folder / "said.toml"
                said.write_text(f'{text}\n[network]\nshape = "{shape}"\n', encoding="utf-8")
                cost, found, _ = simulate(said, data, sites, folder / "out")
                assert found == shape, found
                print(line(sites, shape, cost))
                if (folder / "out" / "release.csv").read_bytes() != expected:
                    wrong.append(f"{sites} sites, {shape}: another release")
        for sites, (most_messages, most_bytes, most_memory) in BARS.items():
            if sites == 1_000 and len(sys.argv) > 2:
                continue
            cost, shape, memory = simulate(study, data, sites, folder / "out")
            print(f"{line(sites, shape, cost)}; {memory / 1e6:.2f} GB of memory")
            if cost["messages"] > most_messages or cost["bytes"] > most_bytes or memory > most_memory:
                wrong.append(f"{sites} sites: above the bar")
            if (folder / "out" / "release.csv").read_bytes() != expected:
                wrong.append(f"{sites} sites: another release")
    sys.exit("\n".join(wrong) or 0)


main()
