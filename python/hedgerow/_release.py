"""Releases: their rows, what stands in their manifest, and every question about them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._errors import ReleaseError, SqlError, StudyError
from ._found import Gated, Report, Summary, Verdict
from ._show import Watcher, page, table, watcher
from ._study import Names, Study, names, native_study
from ._tables import Path, TableLike, Taken, several, taken

if TYPE_CHECKING:
    import pandas
    import polars

#: Whether to show how far work is: by bars, not at all, or by a function of the caller's.
Progress: TypeAlias = bool | Watcher | None


class Table:
    """Rows that speak Arrow: ``pandas.DataFrame.from_arrow(rows)``, ``polars.DataFrame(rows)``,
    ``pyarrow.table(rows)`` and DuckDB read them as they are.

    >>> release.table.columns
    ['age', 'age_low', 'age_high', 'zip', 'disease']
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Rows) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.columns()

    def __len__(self) -> int:
        return len(self._native)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame of pandas."""
        import pyarrow

        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The rows as a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<hedgerow.Table: {len(self):,} rows, columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        first = self._native.head(10)
        more = "" if len(self) <= 10 else f"<p>{len(self):,} rows, of which these are the first</p>"
        return table(first, self.columns) + more


class Release:
    """A release: its rows, its manifest, where it lies. A release without a folder of its own lies in a temporary
    one, which goes with the last object that needs it.

    >>> release.holds, release.classes > 1, 0 < release.loss < 1
    (True, True, True)
    >>> release.risk["prosecutor"]["max"] <= 1 / 5
    True
    """

    __slots__ = ("_native", "_study", "_verdict", "summary")

    def __init__(self, native: _native.Release, study: Study | None = None, summary: Summary | None = None) -> None:
        self._native = native
        self._study = study
        self._verdict: Verdict | None = None
        #: What came of the run and what it cost; nothing for a release that was opened.
        self.summary: Summary | None = summary

    @classmethod
    def open(cls, path: Path, study: Study | None = None) -> Release:
        """A release folder, or one file of a release."""
        return cls(_native.Release.open(os.fspath(path), native_study(study, is_needed=False)), study)

    @property
    def path(self) -> str:
        """Where the release lies."""
        return os.fspath(self._native.path)

    @property
    def table(self) -> Table:
        """The published rows, with typed bounds beside the labels of numbers and days."""
        return Table(self._native.table())

    @property
    def manifest(self) -> dict[str, Any]:
        """What the folder says of itself."""
        import json

        manifest: dict[str, Any] = json.loads(self._native.manifest())
        return manifest

    def _measured(self) -> Verdict:
        """The verdict of a check with no questions of its own, found once."""
        if self._verdict is None:
            self._verdict = verify(self, progress=False)
        return self._verdict

    @property
    def loss(self) -> float:
        """What was lost: NCP, a share of all detail."""
        utility = (self.summary or self._measured()).utility
        return float(utility["ncp"])

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int((self.summary or self._measured()).classes)

    @property
    def holds(self) -> bool:
        """Whether the requirement of the study holds."""
        return (self.summary or self._measured()).holds

    @property
    def risk(self) -> dict[str, Any]:
        """The risk that people are identified, measured on the release."""
        return self._measured().risk

    def verify(self, **questions: Any) -> Verdict:
        """An independent check: :func:`hedgerow.verify` of this release."""
        return verify(self, **questions)

    def report(self, **questions: Any) -> Report:
        """The report for a privacy officer: :func:`hedgerow.report` of this release."""
        return report(self, **questions)

    def attack(self, **suspicion: Any) -> Gated:
        """The known attacks: :func:`hedgerow.attack` on this release."""
        return attack(self, **suspicion)

    def query(self, sql: str, **options: Any) -> Table:
        """Answers SQL: :func:`hedgerow.query` of this release."""
        return query(self, sql, **options)

    def save(self, folder: Path) -> str:
        """Copies the release into a folder that is not there yet, whole or not at all."""
        import shutil

        folder = os.fspath(folder)
        if os.path.lexists(folder):
            raise ReleaseError(f"{folder}: is there already, and is kept\nhint: name another folder")
        aside = f"{folder}.{os.getpid()}.part"
        try:
            if os.path.isdir(self.path):
                shutil.copytree(self.path, aside)
            else:
                os.mkdir(aside)
                shutil.copy(self.path, aside)
            os.rename(aside, folder)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        return folder

    def __repr__(self) -> str:
        return f"<hedgerow.Release {self.path!r}>" if self.summary is None else repr(self.summary)

    def _repr_html_(self) -> str:
        shown = "" if self.summary is None else self.summary._repr_html_()
        return shown + page(report(self, progress=False).html)


def verify(
    data: TableLike | Release,
    *,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    require: str | None = None,
    study: Study | None = None,
    provider_column: str | None = None,
    ignore: Names | None = None,
    original: TableLike | None = None,
    progress: Progress = True,
) -> Verdict:
    """Checks whether a table that somebody calls anonymous is anonymous.

    ``data`` is a :class:`Release`, a path, or anything that speaks Arrow; ``require`` is a line such as
    ``"k = 5, l = 2"``. The roles of columns come from ``study``, or are named here. Of a release of a study,
    ``original`` is the table that it was made of: losses are measured against it too.

    >>> verdict = hr.verify(published, quasi=["age", "zip"], sensitive=["disease"], require="k = 2")
    >>> verdict.holds, verdict.models["k"]["achieved"]
    (True, 2)
    """
    looked: Taken | _native.Release
    if isinstance(data, Release) and study is None:
        study = data._study
    if study is not None and (names(quasi) or names(sensitive)):
        raise StudyError(
            "the study says which columns have which role\n"
            "hint: leave quasi and sensitive out; or verify the table alone: release.table, without a study"
        )
    if isinstance(data, Release):
        looked = data._native
    else:
        needs = names(quasi) + names(sensitive) + names(provider_column) + names(ignore)
        looked = taken(data, needs=[] if study else needs)
        if isinstance(looked, _native.Rows) and study is None and not names(quasi):
            raise StudyError(
                "nothing says which columns are quasi-identifiers\n"
                'hint: give study=…, or quasi=["age", "zip"] and sensitive=["disease"]'
            )
    found = _native.verify(
        looked,
        native_study(study, is_needed=False),
        names(quasi),
        names(sensitive),
        require,
        provider_column,
        names(ignore),
        None if original is None else taken(original, name="the original"),
        False,
        watcher(progress),
    )
    return Verdict(*found)


def found_by_roles(rows: Taken, quasi: list[str], sensitive: list[str]) -> dict[str, Any]:
    """The models of the columns that are named; no other column is read."""
    found = _native.verify(rows, None, quasi, sensitive, None, None, [], None, True, watcher(False))
    models: dict[str, Any] = Verdict(*found).models
    return models


def report(release: Release | Path, *, original: TableLike | None = None, progress: Progress = True) -> Report:
    """The report of a release for a privacy officer: one page of HTML that loads nothing. With ``original``, the table
    that the release was made of, the page has what only that table tells, and is for whoever holds it.

    >>> page = hr.report(release)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(release, Release):
        release = Release.open(release)
    rows = None if original is None else taken(original, name="the original")
    return Report(*_native.report(release._native, rows, watcher(progress)))


def attack(
    release: Release | Path,
    *,
    own: TableLike | list[TableLike] | tuple[TableLike, ...] = (),
    holdout: TableLike | None = None,
    earlier: Iterable[Release | Path] = (),
    provider_column: str | None = None,
    skip: Names | None = None,
    limits: dict[str, float] | None = None,
    progress: Progress = True,
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
    for name, limit in (limits or {}).items():
        if not (isinstance(limit, (int, float)) and 0 <= limit <= 1):
            raise StudyError(f"limits: {name!r} is {limit!r}\nhint: give a share from 0 to 1")
    before = [one.path if isinstance(one, Release) else os.fspath(one) for one in earlier]
    found = _native.gate(
        release._native,
        several(own, "own rows"),
        None if holdout is None else taken(holdout, name="the holdout"),
        before,
        provider_column,
        names(skip),
        list((limits or {}).items()),
        watcher(progress),
    )
    return Gated(*found)


def query(release: Release | Path, sql: str, *, answer: str = "estimate") -> Table:
    """Answers SQL on a release, by the program ``hedgerow-sql``, which must be on ``PATH``. ``answer`` is
    ``estimate``, ``certain``, ``possible`` or ``bounds``. The table is named like the study.

    >>> hr.query(release, "SELECT count(*) AS n FROM patients")  # doctest: +SKIP
    <hedgerow.Table: 1 rows, columns n>
    """
    import shutil
    import subprocess
    import tempfile

    path = release.path if isinstance(release, Release) else os.fspath(release)
    program = shutil.which("hedgerow-sql")
    if program is None:
        raise SqlError(
            "there is no program hedgerow-sql on PATH\n"
            "hint: cargo install --path crates/sql, or a package of hedgerow, has it"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "answer.parquet")
        words = [program, "query", path, sql, "--answer", answer, "--parquet", file]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            raise SqlError(done.stderr.strip().removeprefix("error: "))
        if done.stderr.strip():
            sys.stderr.write(done.stderr)
        return Table(_native.release_table(file))
