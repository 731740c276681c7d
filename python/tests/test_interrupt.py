"""Ctrl-C, as a terminal sends it: SIGINT to a process of its own, whose work ends soon and leaves nothing."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

TESTS = pathlib.Path(__file__).parent

BEGIN = """
import pathlib, sys
import pandas, pyarrow
import hedgerow as hr
sys.path.insert(0, {tests!r})
from conftest import people
patients = people(400)
study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
study.algorithm.name = "clustering"
some = pandas.concat([patients] * 50, ignore_index=True)
many = pandas.concat([patients] * 2_000, ignore_index=True)
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    # The interpreter is whole: another piece of work is done.
    assert hr.k_anonymity(patients, "disease") > 1
else:
    print("not interrupted", flush=True)
"""

WORK = {
    "anonymize": "hr.anonymize(patients, study, time=120.0, out='release')",
    # Enough for minutes, and few enough that sites have a message ready within a second.
    "simulate": "study.algorithm.effort = 100\n    hr.simulate(some, study, sites=3, out='release')",
    "compare": "hr.compare(many, study, time=120.0)",
    "draft": "while True: hr.draft(many)",
    "measures": "while True: hr.measures(many, ['age', 'zip'], 'disease')",
    "attack": "release = hr.anonymize(patients, study, time=1.0)\n    while True: hr.attack(release, own=[patients], skip=['membership'])",
}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("work", WORK)
def test_a_signal_ends_the_work(work, tmp_path):
    code = BEGIN.format(tests=str(TESTS), work=WORK[work])
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline()
        took = time.monotonic() - sent
        assert said == "interrupted\n" and process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    # On an idle machine it takes less than a second; others may use the machine too.
    assert took < 15, took
    assert not list(tmp_path.iterdir())
