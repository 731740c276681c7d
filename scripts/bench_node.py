"""Anonymizes the Adult table (QI8, k = 10) with three sites, as three processes over TLS on loopback
and over the memory network of one process, and prints what each took.

Usage: bench_node.py PATH-TO-HEDGEROW

Needs the real tables of ../shared/data or HEDGEROW_DATA. Times are of whole commands, the middle of
three: rows are read, the release is written, verified and, by the processes, signed. Sizes are those of
the journals of all three when they are largest, looked at every few milliseconds. Fails if the
processes take more than three times as long, if the journals are larger than 1.2 times what was
received, if a release is not that of the memory network, or if rounds, messages or bytes are not.
"""

import csv
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import tables

SITES = ["north", "south", "east"]
TURNS = 3
BAR = 3.0
JOURNAL_BAR = 1.2


def hedgerow(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def free_ports(count):
    """Ports that nobody has at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def deal(folder, data):
    """Deals the rows to the sites in turn; the pooled table says whose each is."""
    with open(data, newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    for place, name in enumerate(SITES):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *rows[place :: len(SITES)]])
    pooled = folder / "pooled.csv"
    with open(pooled, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*header, "site"])
        for place, name in enumerate(SITES):
            writer.writerows([*row, name] for row in rows[place :: len(SITES)])
    return pooled


def sign(folder, study):
    """Gives each site a key, an address, a signature and a file that accepts the study."""
    text = study.read_text()
    for name, port in zip(SITES, free_ports(len(SITES))):
        key = hedgerow("keygen", "--out", folder / f"{name}.key")
        text += f'\n[[site]]\nname = "{name}"\naddress = "127.0.0.1:{port}"\n{key}'
    study.write_text(text)
    for name in SITES:
        hedgerow("study", "sign", "--key", folder / f"{name}.key", study)
    shown = json.loads(hedgerow("study", "show", study, "--json"))
    disclosures = json.dumps([one["what"] for one in shown["discloses"]])
    with open(folder / "north.csv", newline="") as file:
        columns = json.dumps(next(csv.reader(file)))
    for name in SITES:
        site = folder / f"{name}.toml"
        site.write_text(
            f'site = "{name}"\nstudy = "{study.name}"\nkey = "{name}.key"\ndata = "{name}-data"\n'
            f'patience = 60\n[source]\nfile = "{name}.csv"\n'
            f'[accept]\nruns = {TURNS}\nminimum_m = 0\nminimum_k = 10\nmodels = ["k"]\nalgorithms = ["mondrian"]\n'
            f'security = ["hardened"]\ncolumns = {columns}\ndisclosures = {disclosures}\n'
        )
        site.chmod(0o600)


def journal_bytes(data):
    """Bytes of the journal in a data folder at this moment."""
    size = 0
    for file in [data / "journal.sqlite", data / "journal.sqlite-wal", *data.glob("run-*")]:
        try:
            size += file.stat().st_size
        except FileNotFoundError:
            pass
    return size


def watch(folder, largest, is_over):
    """Notes how large the journals become."""
    while not is_over.wait(0.003):
        for name in SITES:
            largest[name] = max(largest.get(name, 0), journal_bytes(folder / f"{name}-data"))


def in_processes(folder, turn):
    """Seconds until all three have the signed release, what each says of its cost, and the bytes of all journals."""
    largest, is_over = {}, threading.Event()
    watching = threading.Thread(target=watch, args=(folder, largest, is_over))
    watching.start()
    began = time.monotonic()
    running = [
        subprocess.Popen(
            [sys.argv[1], "run", "--site", folder / f"{name}.toml", "--seed", "7", "--number", str(turn), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in SITES
    ]
    costs = []
    for process in running:
        said, complaint = process.communicate()
        assert process.returncode == 0, complaint
        costs.append(json.loads(said)["cost"])
    seconds = time.monotonic() - began
    is_over.set()
    watching.join()
    return seconds, costs, sum(largest.values())


def in_memory(folder, study, pooled):
    out = folder / "memory"
    began = time.monotonic()
    said = hedgerow(
        "simulate", "--force", "--study", study, pooled, "--provider-column", "site", "--seed", 7, "--out", out, "--json"
    )
    return time.monotonic() - began, json.loads(said)["cost"]


def main():
    if not tables.shared_data():
        sys.exit("no real tables here; set HEDGEROW_DATA to their folder")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        study, data = tables.adult_study(folder, "k = 10\nm = 0", "range", "median")
        pooled = deal(folder, data)
        sign(folder, study)
        wrong, tls, memory, journals = [], [], [], []
        for turn in range(1, TURNS + 1):
            seconds, cost = in_memory(folder, study, pooled)
            memory.append(seconds)
            seconds, costs, journal = in_processes(folder, turn)
            tls.append(seconds)
            journals.append(journal)
            expected = (folder / "memory" / "release.csv").read_bytes()
            for name in SITES:
                release = folder / f"{name}-data" / f"release-{turn}" / "release.csv"
                if release.read_bytes() != expected:
                    wrong.append(f"the release of {name} is not that of the memory network")
            for what, together in [("rounds", max), ("messages", sum), ("bytes", sum)]:
                found = together(one[what] for one in costs)
                if found != cost[what]:
                    wrong.append(f"{found} {what} over TLS, {cost[what]} in memory")
        ratio = statistics.median(tls) / statistics.median(memory)
        print(f"{cost['rounds']} rounds, {cost['messages']} messages, {cost['bytes']:,} bytes over both")
        print(f"in memory {statistics.median(memory):.2f} s, over TLS {statistics.median(tls):.2f} s: {ratio:.2f} times")
        # What one sends, another receives.
        share = max(journals) / cost["bytes"]
        print(f"journals of all sites at most {max(journals):,} bytes: {share:.2f} times what they received")
        if share > JOURNAL_BAR:
            wrong.append(f"journals of {share:.2f} times what was received, at most {JOURNAL_BAR} is the bar")
        if ratio > BAR:
            wrong.append(f"over TLS takes {ratio:.2f} times as long, at most {BAR} is the bar")
    sys.exit("\n".join(wrong) or 0)


main()
