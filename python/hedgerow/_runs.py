"""Runs: one party with all rows, all sites of a study in one process, the choices of a study side by side."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._errors import StudyError
from ._found import Comparison, Summary
from ._release import Progress, Release
from ._show import bars, table, watcher
from ._study import Names, Study, draft, names, native_study, whole
from ._tables import Path, TableLike, several, taken


class Simulation:
    """All sites of a study in one process: the release, and what it cost.

    >>> together = hr.simulate(patients, study, sites=3, independent=True)
    >>> together.rounds > 0, together.messages > 0, together.bytes > 0
    (True, True, True)
    >>> [line["what"] for line in together.ledger] != []
    True
    """

    __slots__ = ("release", "summary", "ledgers")

    def __init__(self, release: Release, summary: Summary, ledgers: list[list[dict[str, Any]]]) -> None:
        #: The release that all sites made together.
        self.release: Release = release
        #: What came of the run and what it cost.
        self.summary: Summary = summary
        #: What each site learned, in the order of the sites.
        self.ledgers: list[list[dict[str, Any]]] = ledgers

    @property
    def holds(self) -> bool:
        """Whether the requirement of the study holds."""
        return self.summary.holds

    @property
    def rounds(self) -> int:
        """Points in time at which every site waited for others."""
        return int(self.summary.cost["rounds"])

    @property
    def messages(self) -> int:
        """Messages of all sites."""
        return int(self.summary.cost["messages"])

    @property
    def bytes(self) -> int:
        """Bytes of all sites."""
        return int(self.summary.cost["bytes"])

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """What any site learned at most."""
        ledger: list[dict[str, Any]] = self.summary.as_dict().get("ledger", [])
        return ledger

    @property
    def baselines(self) -> dict[str, Any] | None:
        """What each site would lose alone, where ``independent`` asked for that."""
        return self.summary.as_dict().get("baselines")

    def __str__(self) -> str:
        return str(self.summary)

    def __repr__(self) -> str:
        return repr(self.summary)

    def _losses(self) -> list[tuple[str, float]]:
        """What the same rows lose in other hands, where that was measured."""
        if self.baselines is None:
            return [("all sites together", self.summary.utility["ncp"])]
        hands = {"central": "one party with all rows", "joint": "all sites together", "each_alone": "each site alone"}
        return [(words, self.baselines[key]["ncp"]) for key, words in hands.items()]

    def _repr_html_(self) -> str:
        cost = [("rounds", self.rounds), ("messages", self.messages), ("bytes", self.bytes)]
        learned = [(line.get("what"), line.get("to"), line.get("values")) for line in self.ledger]
        return (
            self.summary._repr_html_()
            + table([(name, f"{number:,}") for name, number in cost])
            + bars(self._losses())
            + table(learned, ("what sites learned", "who", "values"))
        )


def anonymize(
    data: TableLike,
    study: Study | None = None,
    *,
    k: int | None = None,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    provider_column: str | None = None,
    seed: int = 1,
    time: float | None = None,
    out: Path | None = None,
    force: bool = False,
    progress: Progress = True,
) -> Release:
    """Anonymizes a table. Without a study one is drafted, with the columns that ``quasi`` and ``sensitive`` name; a ``k``
    stands above that of the study, which stays as it is. The release lies in the folder ``out``, or in a temporary one.

    >>> release = hr.anonymize(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    >>> release.holds
    True
    >>> hr.anonymize(patients, study, k=10).summary.achieved["k"] >= 10
    True
    """
    # Taken once: what gives the rows may give them only once.
    rows = taken(data, needs=names(quasi) + names(sensitive) + names(provider_column))
    if study is None:
        study = draft(
            rows, k=k, quasi=quasi, sensitive=sensitive, provider_column=provider_column, progress=progress
        )
    elif quasi is not None or sensitive is not None:
        raise StudyError(
            "the study says which columns have which role\nhint: change study.columns, or leave quasi and sensitive out"
        )
    elif k is not None:
        native_study(study)
        study = study.copy()
        study.require.k = whole("k", k, 1)
    folder = None if out is None else os.fspath(out)
    holds, text_json, text, native = _native.anonymize(
        rows, native_study(study), whole("seed", seed, 0), folder, force, provider_column, time, watcher(progress)
    )
    return Release(native, study, Summary(holds, text_json, text))


def simulate(
    data: TableLike | list[TableLike] | tuple[TableLike, ...],
    study: Study,
    *,
    sites: int | None = None,
    split: str = "round-robin",
    by: Names | None = None,
    provider_column: str | None = None,
    columns: list[list[str]] | None = None,
    independent: bool = False,
    seed: int = 1,
    out: Path | None = None,
    force: bool = False,
    progress: Progress = True,
) -> Simulation:
    """Runs all sites of a study in one process, and counts rounds, messages and bytes. ``data`` is one table that
    is split among ``sites``, or by the column ``provider_column``; or a list with the table of each site. With
    ``independent`` each site is also run alone.

    >>> together = hr.simulate(patients, study, sites=3)
    >>> together.release.holds
    True
    """
    import json

    folder = None if out is None else os.fspath(out)
    (holds, text_json, text, native), ledgers = _native.simulate(
        several(data, "table"),
        native_study(study),
        None if sites is None else whole("sites", sites, 1),
        split,
        names(by),
        provider_column,
        columns,
        independent,
        whole("seed", seed, 0),
        folder,
        force,
        watcher(progress),
    )
    summary = Summary(holds, text_json, text)
    return Simulation(Release(native, study, summary), summary, json.loads(ledgers))


def compare(
    data: TableLike,
    study: Study,
    *,
    time: float | None = None,
    seed: int = 1,
    provider_column: str | None = None,
    progress: Progress = True,
) -> Comparison:
    """Runs the algorithms and recodings that a study may choose, within ``time`` seconds, and sets them side by
    side.

    >>> compared = hr.compare(patients, study, time=2)
    >>> compared.holds, compared.recommended is not None
    (True, True)
    """
    found = _native.compare(
        taken(data), native_study(study), time, whole("seed", seed, 0), provider_column, watcher(progress)
    )
    return Comparison(*found)
