"""What the library finds: verdicts, summaries, comparisons, attacks, reports. Each has the keys of the command's
``--json`` as attributes, and prints as the command prints."""

from __future__ import annotations

from typing import Any

from ._show import bars, page, table
from ._tables import Path, write_aside


class Found:
    """What the library found: JSON with the command's keys, and the command's text."""

    __slots__ = ("holds", "json", "_text", "_dict")

    def __init__(self, holds: bool, text_json: str, text: str) -> None:
        #: Whether what is required holds.
        self.holds: bool = holds
        #: What ``--json`` of the command prints.
        self.json: str = text_json
        self._text: str = text
        self._dict: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """What was found, as ``--json`` of the command prints it."""
        if self._dict is None:
            import json

            self._dict = json.loads(self.json)
        return self._dict

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self.as_dict()[key]
        except KeyError:
            kind = type(self).__name__
            raise AttributeError(f"this {kind} has no `{key}`; it has {', '.join(self.as_dict())}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.as_dict()]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return table([(self._text,)])


class Verdict(Found):
    """What the verifier found of a table. In a condition it is true where everything required holds."""

    __slots__ = ()

    #: Records of the table.
    records: int
    #: Classes of records that look alike.
    classes: int
    #: Every model by its name: what is required, what was achieved, the worst class.
    models: dict[str, dict[str, Any]]
    #: The risk that people are identified.
    risk: dict[str, Any]

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        rows = [
            (name, shown(model.get("required")), shown(model.get("achieved")), _HOLDS[model.get("holds")])
            for name, model in self.models.items()
        ]
        word = "holds" if self.holds else "does not hold"
        risk = self.risk["prosecutor"]
        risks = [("risk of the record most at risk", risk["max"]), ("mean risk of a record", risk["mean"])]
        return (
            f"<p><b>{word}</b>: {self.records:,} records in {self.classes:,} classes</p>"
            + table(rows, ("model", "required", "achieved", ""))
            + bars(risks)
        )


class Summary(Found):
    """What came of a run and what it cost."""

    __slots__ = ()

    #: Records of the release.
    records: int
    #: Classes of the release.
    classes: int
    #: Sites of the run.
    sites: int
    #: What every class satisfies, by model.
    achieved: dict[str, Any]
    #: What was lost.
    utility: dict[str, Any]
    #: Rounds, messages and bytes.
    cost: dict[str, Any]

    def _repr_html_(self) -> str:
        rows = [
            ("records", f"{self.records:,}"),
            ("classes", f"{self.classes:,}"),
            ("lost (NCP)", f"{100 * self.utility['ncp']:.2f} %"),
            *((name, shown(value)) for name, value in self.achieved.items()),
        ]
        return table(rows)


class Comparison(Found):
    """The algorithms and recodings of a study side by side."""

    __slots__ = ()

    #: What was tried, and what came of it.
    choices: list[dict[str, Any]]
    #: The choice that loses least of those that hold, and why.
    recommended: dict[str, Any] | None

    def _repr_html_(self) -> str:
        losses = [
            (f"{choice['algorithm']}, {choice['recode']}", choice["loss"])
            for choice in self.choices
            if choice.get("outcome") == "measured" and "loss" in choice
        ]
        rows = [
            (choice["algorithm"], choice["recode"], choice.get("outcome", ""), _percent(choice.get("loss")))
            for choice in self.choices
        ]
        return table(rows, ("algorithm", "recode", "", "loss")) + bars(losses)


class Gated(Found):
    """What attacks found: it holds where every attack that was not skipped was tried and no more fell than its limit
    allows. In a condition it is true where it holds."""

    __slots__ = ()

    #: Every attack with what it brought down.
    attacks: list[dict[str, Any]]
    #: Attacks that were not to be tried.
    skipped: list[str]

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        rows = [
            (one["attack"], one["verdict"], _counted(one), one.get("because") or one.get("helps") or one["attacker"])
            for one in self.attacks
        ]
        at_risk = [(one["attack"], one["share"]) for one in self.attacks if one.get("share")]
        return table(rows, ("attack", "", "records at risk", "")) + bars(at_risk)


class Report(Found):
    """The report of a release, which shows itself in a notebook."""

    __slots__ = ("html",)

    def __init__(self, holds: bool, html: str, text_json: str, text: str) -> None:
        super().__init__(holds, text_json, text)
        #: The page: one HTML file that loads nothing.
        self.html: str = html

    def save(self, path: Path) -> None:
        """Writes the page, whole or not at all."""
        write_aside(path, self.html.encode("utf-8"))

    def _repr_html_(self) -> str:
        return page(self.html)


_HOLDS = {True: "holds", False: "fails", None: ""}


def shown(value: Any) -> str:
    """A number for a table."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _counted(attack: dict[str, Any]) -> str:
    return f"{attack['at_risk']:,} of {attack['of']:,}" if "at_risk" in attack else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
