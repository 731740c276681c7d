"""The measures of a table, by the names and arguments that pyCANON has.

All of them are found at once by :func:`hedgerow.measures`; the functions of one measure each are for those who know
them. ``gen=True`` looks at several sensitive attributes by the same classes and takes the worst; ``gen=False`` counts
the other sensitive attributes among the quasi-identifiers. Columns that are not named are not read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ._errors import StudyError
from ._release import Release, found_by_roles
from ._show import table
from ._study import Names, names
from ._tables import TableLike, taken

_Models = dict[str, Any]


class Measures:
    """Nine measures of one table."""

    __slots__ = ("k", "alpha", "l_distinct", "l_entropy", "recursive", "beta_basic", "beta_enhanced", "delta", "t")

    #: The size of the smallest class.
    k: int
    #: The greatest share of a sensitive value in a class.
    alpha: float
    #: The least number of distinct sensitive values in a class.
    l_distinct: int
    #: The greatest l for which every class is entropy l-diverse.
    l_entropy: float
    #: The c above which every class is recursive (c,l)-diverse, and that l.
    recursive: tuple[float, int]
    #: The greatest relative gain in confidence in a sensitive value.
    beta_basic: float
    #: The least beta of enhanced beta-likeness.
    beta_enhanced: float
    #: The greatest ``|ln(q/p)|`` over the values that occur in a class.
    delta: float
    #: The greatest earth mover's distance of a class from the table.
    t: float

    def __init__(self, models: _Models) -> None:
        self.k = models["k"]["achieved"]
        self.alpha = _achieved(models["alpha"])
        self.l_distinct = models["l_distinct"]["achieved"]
        self.l_entropy = _achieved(models["l_entropy"])
        self.recursive = (_achieved(models["l_recursive"]), models["l_recursive"]["l"])
        self.beta_basic = _achieved(models["beta_basic"])
        self.beta_enhanced = _achieved(models["beta_enhanced"])
        self.delta = _achieved(models["delta_present"])
        self.t = _achieved(models["t"])

    def as_dict(self) -> dict[str, Any]:
        """The measures by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return "\n".join(f"{name:14} {value}" for name, value in self.as_dict().items())

    def _repr_html_(self) -> str:
        return table(self.as_dict().items(), ("measure", "value"))


def _views(
    data: TableLike | Release, quasi: Names, sensitive: Names | None, gen: bool, *, is_asked: bool = True
) -> list[_Models]:
    """The models of each look at the table; sensitive columns are needed where they are asked about."""
    quasi, sensitive = names(quasi), names(sensitive)
    if not quasi or (is_asked and not sensitive):
        missing = "sensitive" if quasi else "quasi-identifiers"
        raise StudyError(f'nothing says which columns are {missing}\nhint: name them, such as ["age", "zip"]')
    rows = taken(data.table if isinstance(data, Release) else data, needs=quasi + sensitive, only=True)
    if gen or len(sensitive) < 2:
        return [found_by_roles(rows, quasi, sensitive)]
    others = {name: [other for other in sensitive if other != name] for name in sensitive}
    return [found_by_roles(rows, quasi + others[name], [name]) for name in sensitive]


def _achieved(model: _Models) -> float:
    """The achieved number; infinity where no number would do."""
    return math.inf if model["achieved"] is None else float(model["achieved"])


def _worst(views: list[_Models], model: str, worst: Callable[[Iterable[float]], float]) -> float:
    return worst(_achieved(models[model]) for models in views)


def _least_k(views: list[_Models]) -> int:
    return min(int(models["k"]["achieved"]) for models in views)


def k_anonymity(data: TableLike | Release, quasi_ident: Names) -> int:
    """The size of the smallest class.

    >>> hr.k_anonymity(published, ["age", "zip"])
    2
    """
    return _least_k(_views(data, quasi_ident, None, True, is_asked=False))


def alpha_k_anonymity(
    data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True
) -> tuple[float, int]:
    """The greatest share of a sensitive value in a class, and k.

    >>> hr.alpha_k_anonymity(published, ["age", "zip"], ["disease"])
    (0.5, 2)
    """
    views = _views(data, quasi_ident, sens_att, gen)
    return _worst(views, "alpha", max), _least_k(views)


def l_diversity(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> int:
    """The least number of distinct sensitive values in a class.

    >>> hr.l_diversity(published, ["age", "zip"], ["disease"])
    2
    """
    return int(_worst(_views(data, quasi_ident, sens_att, gen), "l_distinct", min))


def entropy_l_diversity(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> int:
    """The greatest whole l for which every class is entropy l-diverse; :func:`hedgerow.measures` has the number itself.

    >>> hr.entropy_l_diversity(published, ["age", "zip"], ["disease"])
    2
    """
    return min(int(models["l_entropy"]["floor"]) for models in _views(data, quasi_ident, sens_att, gen))


def recursive_c_l_diversity(
    data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True
) -> tuple[float, int]:
    """The c above which every class is recursive (c,l)-diverse, and the distinct l that c is given for, as
    Machanavajjhala et al. define it: exact, with the counts of a class in descending order.

    >>> hr.recursive_c_l_diversity(published, ["age", "zip"], ["disease"])
    (1.0, 2)
    """
    views = [models["l_recursive"] for models in _views(data, quasi_ident, sens_att, gen)]
    worst = min(views, key=lambda model: (model["l"], -_achieved(model)))
    return _achieved(worst), worst["l"]


def basic_beta_likeness(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> float:
    """The greatest relative gain in confidence in a sensitive value.

    >>> hr.basic_beta_likeness(published, ["age", "zip"], ["disease"])
    0.0
    """
    return _worst(_views(data, quasi_ident, sens_att, gen), "beta_basic", max)


def enhanced_beta_likeness(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> float:
    """The least beta that holds as Cao and Karras define it; infinity where a gain exceeds its -ln p.

    >>> hr.enhanced_beta_likeness(published, ["age", "zip"], ["disease"])
    0.0
    """
    return _worst(_views(data, quasi_ident, sens_att, gen), "beta_enhanced", max)


def delta_disclosure(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> float:
    """The greatest \\|ln(q/p)\\| over the values that occur in a class, as pyCANON counts it. The model, which
    :func:`hedgerow.verify` holds a table against, speaks of all values of the table.

    >>> hr.delta_disclosure(published, ["age", "zip"], ["disease"])
    0.0
    """
    return _worst(_views(data, quasi_ident, sens_att, gen), "delta_present", max)


def t_closeness(data: TableLike | Release, quasi_ident: Names, sens_att: Names, gen: bool = True) -> float:
    """The greatest earth mover's distance of a class from the table: ordered for numbers, equal for other values.

    >>> hr.t_closeness(published, ["age", "zip"], ["disease"])
    0.0
    """
    return _worst(_views(data, quasi_ident, sens_att, gen), "t", max)


def measures(data: TableLike | Release, quasi_ident: Names, sens_att: Names) -> Measures:
    """All nine measures, in one look at the table.

    >>> hr.measures(published, ["age", "zip"], ["disease"]).k
    2
    """
    return Measures(_views(data, quasi_ident, sens_att, True)[0])
