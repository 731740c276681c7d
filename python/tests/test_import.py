"""The package by itself: quick to import, without other packages, with types."""

import pathlib
import subprocess
import sys

import hedgerow as hr


def test_nothing_else_is_imported():
    code = "import sys; before = set(sys.modules); import hedgerow; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pandas", "numpy", "pyarrow", "polars", "tqdm"}, loaded


def test_everything_public_is_typed_and_explained():
    folder = pathlib.Path(hr.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()
    for name in hr.__all__:
        if not name.startswith("__"):
            assert getattr(hr, name).__doc__, name


def test_errors_are_a_tree():
    for error in (hr.DataError, hr.StudyError, hr.ReleaseError, hr.TamperedError, hr.SqlError):
        assert issubclass(error, hr.HedgerowError)
    assert issubclass(hr.TamperedError, hr.ReleaseError)
