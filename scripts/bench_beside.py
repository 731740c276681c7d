"""What a user would pick instead, as tables grow: the Mondrian of anonypy beside `hedgerow anonymize` with counted rows,
on the same synthetic censuses (the columns of Adult, eight quasi-identifiers, k = 10), in one run.

Usage: bench_beside.py PATH-TO-HEDGEROW [SECONDS]

Tables grow threefold until anonypy takes longer than SECONDS (600 if none are given) for a partition. Its seconds are
those of the partition of a table in memory alone; ours are those of the whole command: reading, counting, cuts,
release in CSV and Parquet, reading back. Fails where ours is not faster on the largest table that anonypy finishes.
"""

import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile
import time

K, RECORDS = 10, 30_000


def census(hedgerow, records, folder):
    """A census in Parquet, its study of counted rows, and its quasi-identifiers and sensitive columns."""
    made = folder / "census"
    subprocess.run(
        [hedgerow, "generate", "census", "--rows", str(records), "--format", "parquet", "--out", made], check=True, capture_output=True
    )
    study = made / "study.toml"
    text = study.read_text(encoding="utf-8")
    roles = re.findall(r'\[\[attribute\]\]\nname = "([^"]+)"\nrole = "([^"]+)"', text)
    text = re.sub(r"\[require\].*", f'[require]\nk = {K}\n[algorithm]\nname = "mondrian"\nrecode = "range"\n', text, flags=re.S)
    study.write_text(text.replace("[study]\n", '[study]\nrows = "counted"\n', 1), encoding="utf-8")
    named = {role: [name for name, other in roles if other == role] for _, role in roles}
    return next(made.glob("*.parquet")), study, named["quasi"], named["sensitive"]


def partition(table, quasi, sensitive, answer):
    """The process of the other: its seconds and its classes."""
    import pandas
    from anonypy.mondrian import Mondrian

    frame = pandas.read_parquet(table, columns=quasi + sensitive)
    for name in frame.columns:
        if not pandas.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    start = time.perf_counter()
    parts = Mondrian(frame, quasi, sensitive[0]).partition(k=K)
    seconds = time.perf_counter() - start
    sizes = [len(part) for part in parts]
    assert sum(sizes) == len(frame) and min(sizes) >= K
    answer.put((seconds, len(sizes)))


def theirs(table, quasi, sensitive, patience):
    """Seconds and classes; nothing where the patience is over."""
    answer = multiprocessing.Queue()
    process = multiprocessing.Process(target=partition, args=(table, quasi, sensitive, answer))
    process.start()
    process.join(patience)
    if process.is_alive():
        process.kill()
        process.join()
        return None
    assert process.exitcode == 0, "anonypy failed"
    return answer.get()


def ours(hedgerow, table, study, folder):
    start = time.perf_counter()
    command = [hedgerow, "anonymize", "--force", "--study", study, table, "--out", folder / "release"]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main():
    hedgerow, patience = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2]) if len(sys.argv) > 2 else 600
    records, last = RECORDS, None
    while True:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            table, study, quasi, sensitive = census(hedgerow, records, folder)
            before = ours(hedgerow, table, study, folder)
            took = theirs(table, quasi, sensitive, patience)
            mine = max(before, ours(hedgerow, table, study, folder))
        if took is None:
            print(f"{records:,} records: anonypy not within {patience:.0f} s; hedgerow {mine:.2f} s, the whole command", flush=True)
            break
        last = took[0] / mine
        print(
            f"{records:,} records: anonypy {took[0]:.1f} s for the partition ({took[1]:,} classes); "
            f"hedgerow {mine:.2f} s, the whole command, the slower of two; {last:.0f} times",
            flush=True,
        )
        records *= 3
    sys.exit(last is None or last < 1)


main()
