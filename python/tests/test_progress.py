"""Bars of tqdm, where somebody watches: a child whose standard error is a terminal."""

import os
import pathlib
import select
import struct
import subprocess
import sys

import pytest

pytest.importorskip("tqdm")
fcntl = pytest.importorskip("fcntl")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

CODE = """
import sys
sys.path.insert(0, {tests!r})
from conftest import people
import hedgerow as hr
patients = people(400)
study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
study.algorithm.name = "clustering"
release = hr.anonymize(patients, study, time=4.0, progress={progress})
assert release.holds
"""


def written(progress):
    """What a terminal shows of a run of four seconds."""
    ours, theirs = pty.openpty()
    # Bars are as wide as the terminal.
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    code = CODE.format(tests=str(pathlib.Path(__file__).parent), progress=progress)
    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        try:
            some = os.read(ours, 4096) if ready else b""
        except OSError:
            some = b""
        if not some:
            break
        said += some
    os.close(ours)
    assert process.wait(60) == 0
    return said.decode(errors="replace")


def test_bars_are_shown_after_a_while():
    shown = written("True")
    assert "anonymizing" in shown and "lost" in shown and "\r" in shown


def test_no_bars_where_nobody_wants_them():
    assert written("False") == ""


def test_a_function_hears_of_the_work(patients):
    import hedgerow as hr

    heard = []
    hr.anonymize(
        patients, quasi=["age", "zip"], sensitive=["disease"], progress=lambda *told: heard.append(told)
    )
    kinds = {kind for kind, _, _ in heard}
    assert {"begins", "ends"} <= kinds and any("reading the table" in words for _, words, _ in heard)
