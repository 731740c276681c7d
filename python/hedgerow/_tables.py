"""Tables of callers, made ready for the library: paths as they are, rows in memory as Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from . import _native
from ._errors import DataError


class ArrowStream(Protocol):
    """What speaks Arrow: a DataFrame of pandas or polars, a table of pyarrow or DuckDB, :class:`hedgerow.Table`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of an Arrow C stream."""


class ArrowArray(Protocol):
    """One batch of rows that speaks Arrow, such as pyarrow's RecordBatch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        """Capsules of an Arrow C array and its schema."""


Path: TypeAlias = str | os.PathLike[str]
TableLike: TypeAlias = Path | ArrowStream | ArrowArray
Taken: TypeAlias = str | _native.Rows

_WHAT = "give a path, or an object that speaks Arrow, such as a DataFrame of pandas or polars, or a table of pyarrow or DuckDB"


def taken(data: TableLike, *, needs: Sequence[str] = (), only: bool = False, name: str = "the table") -> Taken:
    """A path, or the rows of what speaks Arrow; errors call rows in memory by ``name``. Columns that are needed must be
    there; with ``only`` no other column is read, whatever it holds."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    if isinstance(data, _native.Rows):
        return data
    _see_table(data, name)
    found = _columns(data)
    if found is not None:
        _see_columns(found, needs, only, name)
    columns = list(needs) if only else None
    if _is_of(data, "pandas", "DataFrame"):
        return _native.rows(_of_pandas(data, columns, name), None, name)
    if columns is not None and found is not None:
        data = _narrowed(data, columns)
    rows = _native.rows(data, columns, name)
    if found is None:
        _see_columns(rows.found(), needs, only, name)
    return rows


def several(tables: TableLike | list[TableLike] | tuple[TableLike, ...], name: str) -> list[Taken]:
    """The tables of several sites, or one table; each of several is called by its number."""
    tables = list(tables) if isinstance(tables, (list, tuple)) else [tables]
    if len(tables) == 1:
        return [taken(tables[0], name=f"the {name}")]
    return [taken(table, name=f"the {name} {number}") for number, table in enumerate(tables, 1)]


def _is_of(data: object, package: str, *classes: str) -> bool:
    """Whether an object is of a class of a package, which is not imported for the question."""
    return any(
        kind.__module__.partition(".")[0] == package and kind.__name__ in classes for kind in type(data).__mro__
    )


def _see_table(data: object, name: str) -> None:
    kind = type(data).__name__
    if _is_of(data, "polars", "LazyFrame"):
        raise DataError(f"{name}: a LazyFrame has no rows yet\nhint: collect it first: frame.collect()")
    if _is_of(data, "pandas", "Series") or _is_of(data, "polars", "Series"):
        raise DataError(f"{name}: a {kind} is one column\nhint: make a table of it: series.to_frame()")
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        raise DataError(f"{name}: a {kind} is no table\nhint: {_WHAT}")


def _columns(data: Any) -> list[str] | None:
    """The names of the columns, where they are known before the rows are read."""
    if _is_of(data, "pandas", "DataFrame") or _is_of(data, "polars", "DataFrame"):
        return [str(column) for column in data.columns]
    if _is_of(data, "pyarrow", "Table", "RecordBatch"):
        return list(data.schema.names)
    if _is_of(data, "duckdb", "DuckDBPyRelation"):
        return list(data.columns)
    if _is_of(data, "hedgerow", "Table"):
        return list(data.columns)
    return None


def _see_columns(found: Sequence[str], needs: Sequence[str], only: bool, name: str) -> None:
    """Sees that columns that are needed are there, and that no two that are read have one name."""
    wrong = []
    for column in dict.fromkeys(needs if only else found):
        places = [place for place, other in enumerate(found, 1) if other == column]
        if len(places) > 1:
            wrong.append(
                f"{name}: column `{column}` stands twice, as columns {places[0]} and {places[1]}\n"
                "hint: rename one of them, or leave it out"
            )
    for column in dict.fromkeys(needs):
        if column not in found:
            wrong.append(f"{name}: there is no column `{column}`\nhint: {_nearest(column, found)}")
    _refuse(wrong)


def _nearest(column: str, found: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(column, found, 1)
    if near:
        return f"did you mean `{near[0]}`?"
    more = ", …" if len(found) > 20 else ""
    return f"the table has {', '.join(f'`{name}`' for name in found[:20])}{more}"


def _refuse(wrong: Iterable[str]) -> None:
    """All that is wrong in one error; a hint that several have stands once."""
    said: list[str] = []
    for one in wrong:
        what, _, hint = one.partition("\nhint: ")
        known = any(f"\nhint: {hint}" in other for other in said)
        said.append(what if known or not hint else one)
    if said:
        raise DataError("\nerror: ".join(said))


def _narrowed(data: Any, columns: list[str]) -> Any:
    """A table with some of its columns, none of which is converted."""
    if _is_of(data, "duckdb", "DuckDBPyRelation"):
        return data.select(", ".join('"' + column.replace('"', '""') + '"' for column in columns))
    return data if _is_of(data, "hedgerow", "Table") else data.select(columns)


def _of_pandas(frame: Any, columns: list[str] | None, name: str) -> ArrowStream:
    """A DataFrame as a table of pyarrow. What pandas has and Arrow has not is written as text: intervals, periods.
    Values that no column of Arrow can hold side by side are named, all at once."""
    try:
        import pyarrow
    except ImportError:
        raise DataError(f"{name}: pandas speaks Arrow by pyarrow, which is not there\nhint: pip install pyarrow") from None
    arrays, names, wrong = [], [], []
    for place, column in enumerate(map(str, frame.columns)):
        if columns is not None and column not in columns:
            continue
        series = _sayable(frame.iloc[:, place])
        try:
            array = pyarrow.array(series, from_pandas=True)
            if series.dtype == object and pyarrow.types.is_temporal(array.type):
                _see_one_kind(series)
                # Values of one kind keep their nanoseconds as a column of their own type.
                array = pyarrow.array(series.infer_objects(), from_pandas=True)
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
            wrong.append(_unsayable(series, column, name, error, pyarrow.array))
            continue
        arrays.append(array)
        names.append(column)
    _refuse(wrong)
    rows: ArrowStream = pyarrow.Table.from_arrays(arrays, names=names)
    return rows


def _see_one_kind(series: Any) -> None:
    """Sees that days and moments, with a time zone and without, do not stand side by side: one would be cut to the other."""
    values = (value for value in series if value is not None and value == value)
    kinds = {(type(value).__name__, getattr(value, "tzinfo", None) is None) for value in values}
    if len(kinds) > 1:
        raise TypeError("days, moments, and moments with a time zone stand side by side")


def _sayable(series: Any) -> Any:
    """A column of pandas whose intervals and periods are texts, and which is not sparse."""
    kind = type(series.dtype).__name__
    if kind == "CategoricalDtype" and type(series.cat.categories.dtype).__name__ in ("IntervalDtype", "PeriodDtype"):
        return series.cat.rename_categories(series.cat.categories.map(str))
    if kind in ("IntervalDtype", "PeriodDtype"):
        return series.map(str, na_action="ignore")
    if kind == "SparseDtype":
        return series.sparse.to_dense()
    return series


def _unsayable(series: Any, column: str, name: str, error: Exception, array: Callable[..., object]) -> str:
    """Why a column of objects is no column of Arrow: the first value that is of another kind than those before."""
    first: Any = None
    for row, value in enumerate(series, 1):
        try:
            array([value] if first is None else [first, value], from_pandas=True)
        except Exception:
            among = "" if first is None else f" among values of type {type(first).__name__}"
            shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "…"
            return (
                f"{name}, row {row}: column `{column}`: value {shown} of type {type(value).__name__} stands{among}\n"
                f'hint: give the column values of one type, for instance text: df["{column}"].astype(str)'
            )
        if first is None and value is not None and value == value:
            first = value
    reason = str(error).splitlines()[0]
    return f'{name}: column `{column}`: {reason}\nhint: give the column values of one type: df["{column}"].astype(…)'


def write_aside(path: Path, content: bytes) -> None:
    """Writes a file under another name beside it, and renames it once it is whole."""
    path = os.fspath(path)
    aside = f"{path}.{os.getpid()}.part"
    try:
        with open(aside, "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except BaseException as error:
        if os.path.exists(aside):
            os.unlink(aside)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, path) from None
        raise
