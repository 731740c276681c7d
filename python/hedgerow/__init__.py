"""Anonymous tables: verify, anonymize, simulate, attack, report.

>>> import hedgerow as hr
>>> release = hr.anonymize(patients, quasi=["age", "zip"], sensitive=["disease"], k=5)
>>> hr.verify(release).holds
True

Tables are paths, or anything that speaks Arrow: DataFrames of pandas and polars, tables of pyarrow and DuckDB.
Nothing else needs to be installed.
"""

from ._errors import DataError, HedgerowError, ReleaseError, SqlError, StudyError, TamperedError
from ._found import Comparison, Gated, Report, Summary, Verdict
from ._measures import (
    Measures,
    alpha_k_anonymity,
    basic_beta_likeness,
    delta_disclosure,
    enhanced_beta_likeness,
    entropy_l_diversity,
    k_anonymity,
    l_diversity,
    measures,
    recursive_c_l_diversity,
    t_closeness,
)
from ._native import __version__
from ._release import Release, Table, attack, query, report, verify
from ._runs import Simulation, anonymize, compare, simulate
from ._show import HedgerowWarning
from ._study import Study, draft

__all__ = [
    "Comparison",
    "DataError",
    "Gated",
    "HedgerowError",
    "HedgerowWarning",
    "Measures",
    "Release",
    "ReleaseError",
    "Report",
    "Simulation",
    "SqlError",
    "Study",
    "StudyError",
    "Summary",
    "Table",
    "TamperedError",
    "Verdict",
    "__version__",
    "alpha_k_anonymity",
    "anonymize",
    "attack",
    "basic_beta_likeness",
    "compare",
    "delta_disclosure",
    "draft",
    "enhanced_beta_likeness",
    "entropy_l_diversity",
    "k_anonymity",
    "l_diversity",
    "measures",
    "query",
    "recursive_c_l_diversity",
    "report",
    "simulate",
    "t_closeness",
    "verify",
]
