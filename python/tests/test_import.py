"""The package by itself: quick to import, without other packages, with types."""

import inspect
import pathlib
import shutil
import subprocess
import sys
import typing

import pytest

import hedgerow as hr


def test_nothing_else_is_imported():
    code = "import sys; before = set(sys.modules); import hedgerow; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pandas", "numpy", "pyarrow", "polars", "tqdm"}, loaded


def test_the_package_is_imported_at_once():
    """Under 50 ms of the processor; others use the machine too, so that one try of many is enough."""
    code = "import time; began = time.process_time(); import hedgerow; print(time.process_time() - began)"
    tries = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(60))
    assert any(float(done.stdout) < 0.05 for done in tries)


@pytest.mark.skipif(not shutil.which("ldd"), reason="ldd is not there")
def test_the_library_stands_alone():
    """It takes the C library of the system and nothing else, so that a wheel needs no Rust and no packages."""
    done = subprocess.run(["ldd", hr._native.__file__], capture_output=True, text=True, check=True)
    found = {line.split()[0].split("/")[-1].partition(".so")[0] for line in done.stdout.splitlines()}
    assert found <= {"linux-vdso", "libc", "libm", "libgcc_s", "libpthread", "libdl", "librt", "ld-linux-x86-64", "ld-linux-aarch64"}


def test_everything_public_is_typed_and_explained():
    folder = pathlib.Path(hr.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()
    for name in hr.__all__:
        if not name.startswith("__"):
            assert getattr(hr, name).__doc__, name
    # Whoever calls a function finds an example of the call.
    functions = [getattr(hr, name) for name in hr.__all__ if inspect.isfunction(getattr(hr, name))]
    assert len(functions) > 15
    for function in functions:
        assert ">>> " in function.__doc__ and f"hr.{function.__name__}(" in function.__doc__, function
        hints = typing.get_type_hints(function, vars(sys.modules[function.__module__]))
        assert set(inspect.signature(function).parameters) | {"return"} == set(hints), function


def test_errors_are_a_tree():
    for error in (hr.DataError, hr.StudyError, hr.ReleaseError, hr.TamperedError, hr.SqlError):
        assert issubclass(error, hr.HedgerowError)
    assert issubclass(hr.TamperedError, hr.ReleaseError)
