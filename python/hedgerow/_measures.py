"""The measures of a table, by the names and arguments that pyCANON has.

All of them are found at once by :func:`hedgerow.measures`; the functions of one measure each are for those who know
them. ``gen=True`` looks at several sensitive attributes by the same classes and takes the worst; ``gen=False`` counts
the other sensitive attributes among the quasi-identifiers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ._release import verify
from ._study import names

_Names = str | Iterable[str]


class Measures:
    """Nine measures of one table."""

    __slots__ = (
        "k", "alpha", "l_distinct", "l_entropy", "recursive", "beta_basic", "beta_enhanced", "delta", "t",
    )

    def __init__(self, **found):
        for name, value in found.items():
            setattr(self, name, value)

    def as_dict(self) -> dict:
        """The measures by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self):
        return "\n".join(f"{name:14} {value}" for name, value in self.as_dict().items())

    def _repr_html_(self):
        from ._show import table

        return table(self.as_dict().items(), ("measure", "value"))


def _models(data, quasi, sensitive):
    return verify(data, quasi=quasi, sensitive=sensitive, progress=False).models


def _views(data, quasi, sensitive, gen):
    """The models of each look at the table."""
    quasi, sensitive = names(quasi), names(sensitive)
    if gen or len(sensitive) < 2:
        return [_models(data, quasi, sensitive)]
    return [_models(data, quasi + [other for other in sensitive if other != name], [name]) for name in sensitive]


def _achieved(model):
    """The achieved number; infinity where no number would do."""
    return math.inf if model["achieved"] is None else model["achieved"]


def _worst(data, quasi, sensitive, gen, model, worst):
    return worst(_achieved(models[model]) for models in _views(data, quasi, sensitive, gen))


def k_anonymity(data, quasi_ident: _Names) -> int:
    """The size of the smallest class.

    >>> hr.k_anonymity(published, ["age", "zip"])
    2
    """
    return _models(data, quasi_ident, None)["k"]["achieved"]


def alpha_k_anonymity(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> tuple[float, int]:
    """The greatest share of a sensitive value in a class, and k.

    >>> hr.alpha_k_anonymity(published, ["age", "zip"], ["disease"])
    (0.5, 2)
    """
    views = _views(data, quasi_ident, sens_att, gen)
    return max(_achieved(models["alpha"]) for models in views), min(models["k"]["achieved"] for models in views)


def l_diversity(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> int:
    """The least number of distinct sensitive values in a class.

    >>> hr.l_diversity(published, ["age", "zip"], ["disease"])
    2
    """
    return _worst(data, quasi_ident, sens_att, gen, "l_distinct", min)


def entropy_l_diversity(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> int:
    """The greatest whole l for which every class is entropy l-diverse; :func:`hedgerow.measures` has the number itself.

    >>> hr.entropy_l_diversity(published, ["age", "zip"], ["disease"])
    2
    """
    return min(models["l_entropy"]["floor"] for models in _views(data, quasi_ident, sens_att, gen))


def recursive_c_l_diversity(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> tuple[float, int]:
    """The c above which every class is recursive (c,l)-diverse, and the distinct l that c is given for, as
    Machanavajjhala et al. define it: exact, with the counts of a class in descending order.

    >>> hr.recursive_c_l_diversity(published, ["age", "zip"], ["disease"])
    (1.0, 2)
    """
    views = [models["l_recursive"] for models in _views(data, quasi_ident, sens_att, gen)]
    worst = min(views, key=lambda model: (model["l"], -_achieved(model)))
    return float(_achieved(worst)), worst["l"]


def basic_beta_likeness(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> float:
    """The greatest relative gain in confidence in a sensitive value."""
    return float(_worst(data, quasi_ident, sens_att, gen, "beta_basic", max))


def enhanced_beta_likeness(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> float:
    """The least beta that holds as Cao and Karras define it; infinity where a gain exceeds its -ln p."""
    return float(_worst(data, quasi_ident, sens_att, gen, "beta_enhanced", max))


def delta_disclosure(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> float:
    """The greatest \\|ln(q/p)\\| over the values that occur in a class, as pyCANON counts it. The model, which
    :func:`hedgerow.verify` holds a table against, speaks of all values of the table."""
    return float(_worst(data, quasi_ident, sens_att, gen, "delta_present", max))


def t_closeness(data, quasi_ident: _Names, sens_att: _Names, gen: bool = True) -> float:
    """The greatest earth mover's distance of a class from the table: ordered for numbers, equal for other values.

    >>> hr.t_closeness(published, ["age", "zip"], ["disease"])
    0.0
    """
    return float(_worst(data, quasi_ident, sens_att, gen, "t", max))


def measures(data, quasi_ident: _Names, sens_att: _Names) -> Measures:
    """All nine measures, in one look at the table.

    >>> hr.measures(published, ["age", "zip"], ["disease"]).k
    2
    """
    models = _models(data, quasi_ident, sens_att)
    return Measures(
        k=models["k"]["achieved"],
        alpha=_achieved(models["alpha"]),
        l_distinct=models["l_distinct"]["achieved"],
        l_entropy=_achieved(models["l_entropy"]),
        recursive=(_achieved(models["l_recursive"]), models["l_recursive"]["l"]),
        beta_basic=_achieved(models["beta_basic"]),
        beta_enhanced=_achieved(models["beta_enhanced"]),
        delta=_achieved(models["delta_present"]),
        t=_achieved(models["t"]),
    )
