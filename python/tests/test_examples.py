"""The examples in docstrings, run."""

import doctest
import importlib

import pytest

import hedgerow as hr


@pytest.mark.parametrize("module", ["hedgerow", "hedgerow._measures", "hedgerow._release", "hedgerow._runs", "hedgerow._study"])
def test_examples(module, patients, published):
    names = {
        "hr": hr,
        "patients": patients,
        "published": published,
        "study": hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5),
        "release": hr.anonymize(patients, quasi=["age", "zip"], sensitive=["disease"], k=5),
    }
    failed, tried = doctest.testmod(importlib.import_module(module), extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried > 0
