"""Studies: what is in a table, what must hold of a release, how it is made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, TypeAlias

from . import _native
from ._errors import StudyError
from ._show import Watcher, table, watcher
from ._tables import Path, TableLike, Taken, several, taken

#: The name of a column, or the names of several.
Names: TypeAlias = str | int | Iterable[object]


class Section(MutableMapping[str, Any]):
    """A section of a study, such as ``[require]`` or one ``[[attribute]]``: keys are read and set as items or as
    attributes; a comment behind a value stays."""

    __slots__ = ("_study", "_section", "_column")

    _study: _native.Study
    _section: str
    _column: str | None

    def __init__(self, study: _native.Study, section: str, column: str | None = None) -> None:
        object.__setattr__(self, "_study", study)
        object.__setattr__(self, "_section", section)
        object.__setattr__(self, "_column", column)

    def __getitem__(self, key: str) -> Any:
        value = self._study.get(self._section, self._column, key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._study.set(self._section, self._column, key, value)

    def __delitem__(self, key: str) -> None:
        self[key]
        self._study.set(self._section, self._column, key, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._study.keys(self._section, self._column))

    def __len__(self) -> int:
        return len(self._study.keys(self._section, self._column))

    def __getattr__(self, key: str) -> Any:
        # No key begins so; of a section that is being copied, no slot is set yet.
        if key.startswith("_"):
            raise AttributeError(key)
        return self.get(key)

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __delattr__(self, key: str) -> None:
        del self[key]

    def __copy__(self) -> Section:
        return Section(self._study, self._section, self._column)

    def __deepcopy__(self, _: object) -> Section:
        return Section(self._study.copy(), self._section, self._column)

    def __repr__(self) -> str:
        return repr(dict(self))


def _replace(study: _native.Study, section: str, column: str | None, keys: Mapping[str, Any]) -> None:
    """Gives a section these keys and no others; where one of them cannot be said, nothing is changed."""
    try:
        given = {key: list(value) if isinstance(value, Iterator) else value for key, value in dict(keys).items()}
    except (TypeError, ValueError):
        raise StudyError(f"a {type(keys).__name__} is no section\nhint: give a dict of keys and values") from None
    # The name of a column is how it is found.
    if column is not None:
        given.pop("name", None)
    for changed in (study.copy(), study):
        for key in changed.keys(section, column):
            if key not in given and (column is None or key != "name"):
                changed.set(section, column, key, None)
        for key, value in given.items():
            changed.set(section, column, key, value)


class Columns(MutableMapping[str, Section]):
    """The columns of a study, by name."""

    __slots__ = ("_study",)

    def __init__(self, study: _native.Study) -> None:
        self._study = study

    def __getitem__(self, name: str) -> Section:
        if name not in self._study.columns():
            raise KeyError(name)
        return Section(self._study, "attribute", name)

    def __setitem__(self, name: str, keys: Mapping[str, Any]) -> None:
        self[name]
        _replace(self._study, "attribute", name, keys)

    def __delitem__(self, name: str) -> None:
        raise TypeError('a column is not taken out of a study: give it the role "identifier", and no release has it')

    def __iter__(self) -> Iterator[str]:
        return iter(self._study.columns())

    def __len__(self) -> int:
        return len(self._study.columns())

    def __repr__(self) -> str:
        return repr({name: dict(self[name]) for name in self})


class Study:
    """A study: the columns of a table with their roles and values, what every class of a release must satisfy, and
    how classes are found. :func:`hedgerow.draft` makes one of a table.

    >>> import hedgerow as hr
    >>> study = hr.draft(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
    >>> study.require.k
    5
    >>> study.require.k = 10
    >>> study.columns["zip"].role
    'quasi'
    """

    __slots__ = ("_native", "columns", "drafted")

    def __init__(self, native: _native.Study, drafted: dict[str, Any] | None = None) -> None:
        self._native = native
        #: The columns by their names.
        self.columns: Columns = Columns(native)
        #: What a draft guessed (``columns``, ``doubts``, ``todo``), if the study is one.
        self.drafted: dict[str, Any] | None = drafted

    @classmethod
    def open(cls, path: Path) -> Study:
        """Reads ``study.toml`` and the taxonomies that it names."""
        return cls(_native.Study.open(os.fspath(path)))

    @classmethod
    def parse(cls, text: str, folder: Path = ".") -> Study:
        """Reads the text of a study; the files that it names lie in ``folder``."""
        return cls(_native.Study.parse(text, os.fspath(folder)))

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self._native.get("study", None, "name"))

    @property
    def text(self) -> str:
        """The text of ``study.toml``."""
        return self._native.text

    @property
    def require(self) -> Section:
        """What every class of a release must satisfy: ``k``, ``l``, ``t``, …"""
        return Section(self._native, "require")

    @require.setter
    def require(self, demands: Mapping[str, Any]) -> None:
        _replace(self._native, "require", None, demands)

    @property
    def algorithm(self) -> Section:
        """How classes are found: ``name``, ``recode``, …"""
        return Section(self._native, "algorithm")

    @property
    def settings(self) -> Section:
        """The keys of ``[study]``: ``name``, ``partition``, ``security``, …"""
        return Section(self._native, "study")

    def copy(self) -> Study:
        """Another study that says the same."""
        return Study(self._native.copy(), self.drafted)

    def __copy__(self) -> Study:
        return self.copy()

    def __deepcopy__(self, _: object) -> Study:
        return self.copy()

    def save(self, folder: Path) -> str:
        """Writes ``study.toml`` and its taxonomies into a folder, and gives the path. Files that are there are
        kept: that is an error."""
        return os.fspath(self._native.save(os.fspath(folder)))

    def check(self, *tables: TableLike, provider_column: str | None = None) -> str:
        """Sees that the study is sound and that tables fit it; an error lists all that is wrong."""
        return self._native.check(several(list(tables), "table"), provider_column)

    def show(self) -> str:
        """What the study demands, publishes and discloses, in plain words."""
        return self._native.shown()

    def __repr__(self) -> str:
        return f"<hedgerow.Study {self.name!r}: {len(self.columns)} columns, {dict(self.require)}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = [(name, column.get("role", ""), _values(column)) for name, column in self.columns.items()]
        demands = [(key, value) for key, value in self.require.items()]
        return table(rows, ("column", "role", "values")) + table(demands, ("requires", ""))


def _values(column: Mapping[str, Any]) -> str:
    if "taxonomy" in column:
        return f"taxonomy {column['taxonomy']}"
    if "range" in column:
        least, greatest = column["range"]
        return f"{column.get('type', '')} {least} to {greatest}"
    if "values" in column:
        return f"{len(column['values'])} values"
    return str(column.get("type", ""))


def names(columns: Names | None) -> list[str]:
    """Names of columns; one name may stand alone."""
    if columns is None:
        return []
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        return [str(columns)]
    return [str(name) for name in columns]


def whole(name: str, number: int, least: int) -> int:
    """A whole number that is not too small, or too large for the library."""
    try:
        found = number.__index__()
    except AttributeError:
        raise StudyError(f"{name}: {number!r} is no whole number\nhint: give a number from {least}") from None
    if not least <= found < 2**63:
        raise StudyError(f"{name}: {found} is out of range\nhint: give a number from {least}")
    return found


def native_study(study: Study | None, *, is_needed: bool = True) -> Any:
    """The library's study of a study."""
    if isinstance(study, Study):
        return study._native
    if study is None and not is_needed:
        return None
    raise StudyError(
        f"a {type(study).__name__} is no study\nhint: hr.Study.open(path) reads one, and hr.draft(table) makes one"
    )


def draft(
    data: TableLike | Taken,
    *,
    k: int | None = None,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    provider_column: str | None = None,
    hierarchies: Path | None = None,
    progress: bool | Watcher | None = True,
) -> Study:
    """Drafts a study of a table: which values its columns have, which role they seem to play. Where columns are
    named as ``quasi`` or ``sensitive``, a release has no others. ``hierarchies`` is a folder of files in ARX's form.

    ``data`` is a path, or anything that speaks Arrow, such as a DataFrame of pandas or polars.

    >>> study = hr.draft(patients)
    >>> study.columns["disease"].role
    'sensitive'
    """
    import json

    folder = None if hierarchies is None else os.fspath(hierarchies)
    roles = names(quasi), names(sensitive)
    rows = taken(data, needs=[*roles[0], *roles[1], *names(provider_column)])
    native, found, _ = _native.draft(
        rows, None if k is None else whole("k", k, 1), *roles, provider_column, folder, watcher(progress)
    )
    study = Study(native, json.loads(found))
    if isinstance(rows, _native.Rows):
        # A table in memory has no name; questions in SQL call the study's table so.
        study.settings.name = "data"
    return study
