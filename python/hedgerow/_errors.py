"""What can go wrong. Every message says what was expected, what was found, where, and what to do next."""


class HedgerowError(Exception):
    """The root of all errors of this package."""


class DataError(HedgerowError, ValueError):
    """A table is wrong: a value outside its domain, a column that is missing."""


class StudyError(HedgerowError, ValueError):
    """A study, or what was asked, is wrong."""


class ReleaseError(HedgerowError):
    """A release cannot be understood."""


class TamperedError(ReleaseError):
    """The files of a release are not the files that its manifest speaks of."""


class SqlError(HedgerowError):
    """A statement of SQL cannot be answered, or ``hedgerow-sql`` is not there."""
