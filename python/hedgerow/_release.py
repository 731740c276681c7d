"""Releases: their rows, what was found of them, how they were made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from . import _native
from ._errors import SqlError, StudyError
from ._show import bars, page, table, watcher
from ._study import Study, draft, names


class Table:
    """Rows that speak Arrow: ``pandas.DataFrame.from_arrow(rows)``, ``polars.DataFrame(rows)``,
    ``pyarrow.table(rows)`` and DuckDB read them as they are."""

    __slots__ = ("_native",)

    def __init__(self, native):
        self._native = native

    def __arrow_c_stream__(self, requested_schema=None):
        return self._native.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.columns()

    def __len__(self):
        return len(self._native)

    def to_pandas(self):
        """The rows as a DataFrame of pandas."""
        import pyarrow

        return pyarrow.table(self).to_pandas()

    def to_polars(self):
        """The rows as a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self):
        return f"<hedgerow.Table: {len(self):,} rows, columns {', '.join(self.columns)}>"


class _Found:
    """What the library found: JSON with the command's keys, and the command's text."""

    __slots__ = ("holds", "json", "_text", "_dict")

    def __init__(self, holds, text_json, text):
        #: Whether what is required holds.
        self.holds: bool = holds
        #: What ``--json`` of the command prints.
        self.json: str = text_json
        self._text, self._dict = text, None

    def as_dict(self) -> dict:
        """What was found, as ``--json`` of the command prints it."""
        if self._dict is None:
            self._dict = json.loads(self.json)
        return self._dict

    def __getitem__(self, key):
        return self.as_dict()[key]

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self.as_dict()[key]
        except KeyError:
            kind = type(self).__name__
            raise AttributeError(f"this {kind} has no `{key}`; it has {', '.join(self.as_dict())}") from None

    def __dir__(self):
        return [*super().__dir__(), *self.as_dict()]

    def __str__(self):
        return self._text

    def __repr__(self):
        return self._text.rstrip("\n")


class Verdict(_Found):
    """What the verifier found of a table: ``holds``, ``models``, ``risk``, ``utility``. In a condition it is true
    where everything required holds."""

    __slots__ = ()

    def __bool__(self):
        return self.holds

    def _repr_html_(self):
        rows = [
            (name, _number(model.get("required")), _number(model.get("achieved")), _holds(model.get("holds")))
            for name, model in self.models.items()
        ]
        word = "holds" if self.holds else "does not hold"
        return f"<p><b>{word}</b>: {self.records:,} records in {self.classes:,} classes</p>" + table(
            rows, ("model", "required", "achieved", "")
        )


class Summary(_Found):
    """What came of a run and what it cost; its keys are those of ``--json``."""

    __slots__ = ()


class Comparison(_Found):
    """The algorithms and recodings of a study side by side: ``choices``, ``recommended``."""

    __slots__ = ()

    def _repr_html_(self):
        rows = [
            (choice["algorithm"], choice["recode"], f"{100 * choice['loss']:.2f} %")
            for choice in self.choices
            if choice.get("outcome") == "measured" and "loss" in choice
        ]
        return table(rows, ("algorithm", "recode", "loss")) if rows else f"<pre>{self._text}</pre>"


class Gated(_Found):
    """What attacks found: ``holds`` where every attack that was not skipped was tried and no more fell than its limit
    allows, ``attacks`` with what each brought down. In a condition it is true where it holds."""

    __slots__ = ()

    def __bool__(self):
        return self.holds

    def _repr_html_(self):
        rows = [
            (one["attack"], one["verdict"], f"{100 * one['share']:.1f} %" if "share" in one else "", one.get("falls", ""))
            for one in self.attacks
        ]
        return table(rows, ("attack", "", "share", "what falls"))


class Report(_Found):
    """The report of a release, which shows itself in a notebook."""

    __slots__ = ("html",)

    def __init__(self, holds, html, text_json, text):
        super().__init__(holds, text_json, text)
        #: The page: one HTML file that loads nothing.
        self.html: str = html

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return page(self.html)


class Release:
    """A release: its rows, its manifest, where it lies. A release without a folder of its own lies in a temporary
    one, which goes with the last object that needs it."""

    __slots__ = ("_native", "_study", "summary")

    def __init__(self, native, study=None, summary=None):
        self._native, self._study = native, study
        #: What came of the run and what it cost; nothing for a release that was opened.
        self.summary: Summary | None = summary

    @classmethod
    def open(cls, path: str | os.PathLike, study: Study | None = None) -> Release:
        """A release folder, or one file of a release."""
        native = _native.Release.open(os.fspath(path), None if study is None else study._native)
        return cls(native, study)

    @property
    def path(self) -> str:
        """Where the release lies."""
        return os.fspath(self._native.path)

    @property
    def table(self) -> Table:
        """The published rows, with typed bounds beside the labels of numbers and days."""
        return Table(self._native.table())

    @property
    def manifest(self) -> dict:
        """What the folder says of itself."""
        return json.loads(self._native.manifest())

    @property
    def loss(self) -> float | None:
        """What was lost: NCP, a share of all detail."""
        return None if self.summary is None else self.summary.utility["ncp"]

    @property
    def classes(self) -> int | None:
        """How many classes there are."""
        return None if self.summary is None else self.summary.classes

    @property
    def holds(self) -> bool | None:
        """Whether the requirement of the study holds."""
        return None if self.summary is None else self.summary.holds

    @property
    def risk(self) -> dict:
        """The risk that people are identified, measured on the release."""
        return verify(self, progress=False).risk

    def verify(self, **questions) -> Verdict:
        """An independent check: :func:`hedgerow.verify` of this release."""
        return verify(self, **questions)

    def report(self, **questions) -> Report:
        """The report for a privacy officer: :func:`hedgerow.report` of this release."""
        return report(self, **questions)

    def attack(self, **suspicion) -> Gated:
        """The known attacks: :func:`hedgerow.attack` on this release."""
        return attack(self, **suspicion)

    def query(self, sql: str, **options) -> Table:
        """Answers SQL: :func:`hedgerow.query` of this release."""
        return query(self, sql, **options)

    def save(self, folder: str | os.PathLike) -> str:
        """Copies the folder of the release; the folder must not be there yet."""
        shutil.copytree(self.path, folder)
        return os.fspath(folder)

    def __repr__(self):
        return f"<hedgerow.Release {self.path!r}>" if self.summary is None else repr(self.summary)

    def _repr_html_(self):
        if self.summary is None:
            return f"<pre>{self.path}</pre>"
        rows = [
            ("records", f"{self.summary.records:,}"),
            ("classes", f"{self.summary.classes:,}"),
            ("lost (NCP)", f"{100 * self.loss:.2f} %"),
            *((name, _number(value)) for name, value in self.summary.achieved.items()),
        ]
        return table(rows) + report(self, progress=False)._repr_html_()


class Simulation:
    """All sites of a study in one process: the release, and what it cost."""

    __slots__ = ("release", "summary", "ledgers")

    def __init__(self, release, summary, ledgers):
        self.release: Release = release
        self.summary: Summary = summary
        #: What each site learned, in the order of the sites.
        self.ledgers: list[list[dict]] = ledgers

    @property
    def rounds(self) -> int:
        """Points in time at which every site waited for others."""
        return self.summary.cost["rounds"]

    @property
    def messages(self) -> int:
        """Messages of all sites."""
        return self.summary.cost["messages"]

    @property
    def bytes(self) -> int:
        """Bytes of all sites."""
        return self.summary.cost["bytes"]

    @property
    def ledger(self) -> list[dict]:
        """What any site learned at most."""
        return self.summary.as_dict().get("ledger", [])

    @property
    def baselines(self) -> dict | None:
        """What each site would lose alone, where ``independent`` asked for that."""
        return self.summary.as_dict().get("baselines")

    def __repr__(self):
        return repr(self.summary)

    def _losses(self):
        found = [("together", self.summary.utility["ncp"])]
        for alone in (self.baselines or {}).get("independent", []):
            loss = (alone.get("utility") or {}).get("ncp", alone.get("ncp"))
            if loss is not None:
                found.append((f"{alone.get('site', 'site')} alone", loss))
        return found

    def _repr_html_(self):
        cost = [("rounds", self.rounds), ("messages", self.messages), ("bytes", self.bytes)]
        learned = [(line.get("what"), line.get("to"), line.get("values")) for line in self.ledger]
        return (
            table([(name, f"{number:,}") for name, number in cost])
            + bars(self._losses())
            + table(learned, ("what sites learned", "who", "values"))
        )


def _number(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else value


def _holds(value):
    return {True: "holds", False: "fails", None: ""}[value]


def _native_study(study):
    return None if study is None else study._native


def verify(
    data,
    *,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    require: str | None = None,
    study: Study | None = None,
    provider_column: str | None = None,
    ignore: str | Iterable[str] | None = None,
    original: str | os.PathLike | None = None,
    progress=True,
) -> Verdict:
    """Checks whether a table that somebody calls anonymous is anonymous.

    ``data`` is a :class:`Release`, a path, or anything that speaks Arrow; ``require`` is a line such as
    ``"k = 5, l = 2"``. The roles of columns come from ``study``, or are named here.

    >>> verdict = hr.verify(published, quasi=["age", "zip"], sensitive=["disease"], require="k = 2")
    >>> verdict.holds, verdict.models["k"]["achieved"]
    (True, 2)
    """
    if isinstance(data, Release):
        study = data._study if study is None else study
        data = data._native
    found = _native.verify(
        data,
        _native_study(study),
        names(quasi),
        names(sensitive),
        require,
        provider_column,
        names(ignore),
        None if original is None else os.fspath(original),
        watcher(progress),
    )
    return Verdict(*found)


def anonymize(
    data,
    study: Study | None = None,
    *,
    k: int | None = None,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    provider_column: str | None = None,
    seed: int = 1,
    time: float | None = None,
    out: str | os.PathLike | None = None,
    force: bool = False,
    progress=True,
) -> Release:
    """Anonymizes a table. Without a study one is drafted, with the columns that ``quasi`` and ``sensitive`` name.

    >>> release = hr.anonymize(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    >>> release.holds
    True
    """
    if study is None:
        study = draft(
            data, k=k, quasi=quasi, sensitive=sensitive, provider_column=provider_column, progress=progress
        )
    elif quasi is not None or sensitive is not None:
        raise StudyError("the study says which columns have which role\nhint: change study.columns, or leave quasi and sensitive out")
    elif k is not None:
        study = study.copy()
        study.require.k = k
    folder = None if out is None else os.fspath(out)
    holds, text_json, text, native = _native.anonymize(
        data, study._native, seed, folder, force, provider_column, time, watcher(progress)
    )
    return Release(native, study, Summary(holds, text_json, text))


def simulate(
    data,
    study: Study,
    *,
    sites: int | None = None,
    split: str = "round-robin",
    by: str | Iterable[str] | None = None,
    provider_column: str | None = None,
    columns: list[list[str]] | None = None,
    independent: bool = False,
    seed: int = 1,
    out: str | os.PathLike | None = None,
    force: bool = False,
    progress=True,
) -> Simulation:
    """Runs all sites of a study in one process, and counts rounds, messages and bytes. ``data`` is one table that
    is split among ``sites``, or by the column ``provider_column``; or a list with the table of each site. With
    ``independent`` each site is also run alone.

    >>> together = hr.simulate(patients, study, sites=3)
    >>> together.release.holds
    True
    """
    tables = list(data) if isinstance(data, (list, tuple)) else [data]
    folder = None if out is None else os.fspath(out)
    (holds, text_json, text, native), ledgers = _native.simulate(
        tables, study._native, sites, split, names(by), provider_column, columns, independent, seed, folder, force,
        watcher(progress),
    )
    summary = Summary(holds, text_json, text)
    return Simulation(Release(native, study, summary), summary, json.loads(ledgers))


def compare(
    data,
    study: Study,
    *,
    time: float | None = None,
    seed: int = 1,
    provider_column: str | None = None,
    progress=True,
) -> Comparison:
    """Runs the algorithms and recodings that a study may choose, within ``time`` seconds, and sets them side by
    side."""
    found = _native.compare(data, study._native, time, seed, provider_column, watcher(progress))
    return Comparison(*found)


def report(release, *, original: str | os.PathLike | None = None, progress=True) -> Report:
    """The report of a release for a privacy officer: one page of HTML that loads nothing.

    >>> page = hr.report(release)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(release, Release):
        release = Release.open(release)
    path = None if original is None else os.fspath(original)
    return Report(*_native.report(release._native, path, watcher(progress)))


def attack(
    release,
    *,
    own=(),
    holdout=None,
    earlier=(),
    provider_column: str | None = None,
    skip: str | Iterable[str] | None = None,
    limits: dict[str, float] | None = None,
    progress=True,
) -> Gated:
    """Attacks a release before it goes out, as the command ``hedgerow gate`` does. ``own`` has rows that are in the
    release, one table for each site; ``holdout`` people who are not; ``earlier`` other releases of the same table. An
    attack that lacks what it needs is said not to be tried, and does not pass unless ``skip`` names it.

    >>> gated = hr.attack(release, own=[patients], skip=["membership", "bayes", "two_releases", "newcomers"])
    >>> {one["attack"]: one["verdict"] for one in gated.attacks}["order"]
    'holds'
    """
    if not isinstance(release, Release):
        release = Release.open(release)
    tables = list(own) if isinstance(own, (list, tuple)) else [own]
    before = [one.path if isinstance(one, Release) else os.fspath(one) for one in earlier]
    found = _native.gate(
        release._native, tables, holdout, before, provider_column, names(skip), list((limits or {}).items()),
        watcher(progress),
    )
    return Gated(*found)


def query(release, sql: str, *, answer: str = "estimate") -> Table:
    """Answers SQL on a release, by the program ``hedgerow-sql``, which must be on ``PATH``. ``answer`` is
    ``estimate``, ``certain``, ``possible`` or ``bounds``."""
    path = release.path if isinstance(release, Release) else os.fspath(release)
    program = shutil.which("hedgerow-sql")
    if program is None:
        raise SqlError("there is no program hedgerow-sql on PATH\nhint: cargo install --path crates/sql, or a package of hedgerow, has it")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "answer.parquet")
        words = [program, "query", path, sql, "--answer", answer, "--parquet", file]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            raise SqlError(done.stderr.strip().removeprefix("error: "))
        if done.stderr.strip():
            sys.stderr.write(done.stderr)
        return Table(_native.release_table(file))
