"""The package as a typed program uses it: mypy checks this file, nobody runs it."""

from pathlib import Path
from typing import assert_type

import pandas
import polars

import hedgerow as hr


def use(patients: pandas.DataFrame, others: polars.DataFrame) -> None:
    assert_type(hr.k_anonymity(patients, ["age", "zip"]), int)
    assert_type(hr.alpha_k_anonymity(others, "age", "disease"), tuple[float, int])
    assert_type(hr.measures(Path("patients.parquet"), ["age"], "disease").t, float)
    verdict = hr.verify(patients, quasi=["age"], sensitive=["disease"], require="k = 5")
    assert_type(bool(verdict), bool)
    study = hr.draft(patients, k=5)
    study.require.k = 10
    study.require = {"k": 5, "l": {"at_least": 2, "kind": "distinct"}}
    release = hr.anonymize(patients, study, k=10, progress=False)
    assert_type(release.loss, float)
    assert_type(release.classes, int)
    assert_type(release.table.to_pandas(), pandas.DataFrame)
    assert_type(release.table.to_polars(), polars.DataFrame)
    together = hr.simulate([patients, others], study, independent=True)
    assert_type(together.rounds + together.messages + together.bytes, int)
    gated = hr.attack(release, own=[patients], holdout=others, earlier=[release, "release-1"], limits={"order": 0.1})
    assert_type(gated.holds, bool)
    assert_type(hr.report(release, original=patients).html, str)
    polars.DataFrame(hr.query(release, "SELECT 1"))
    assert_type(hr.compare(patients, study, time=1.5).recommended is None, bool)
