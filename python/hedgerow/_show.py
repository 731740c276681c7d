"""How objects look in a notebook, and how long work shows that it goes on."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

#: What hears of work: ``(kind, words, number)``.
Watcher: TypeAlias = Callable[[str, str, int | None], object]


class HedgerowWarning(UserWarning):
    """What a person should hear of though the work goes on."""


def table(rows: Iterable[Sequence[object]], header: Sequence[str] | None = None) -> str:
    """A table of HTML; every text is escaped."""
    import html

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    head = f"<thead>{line(header, 'th')}</thead>" if header else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def bars(losses: Sequence[tuple[str, float]]) -> str:
    """Shares of 1 as bars, an SVG that stands alone: ``[(label, share), …]``."""
    if not losses:
        return ""
    import html

    high, most = 22 * len(losses) + 8, max(share for _, share in losses) or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="560" height="{high}" '
        'font-family="sans-serif" font-size="12" fill="currentColor" role="img">'
    ]
    for place, (label, share) in enumerate(losses):
        y = 22 * place + 6
        wide = 220 * share / most
        parts.append(f'<text x="0" y="{y + 12}">{html.escape(label)}</text>')
        parts.append(f'<rect x="240" y="{y}" width="{wide:.1f}" height="16" fill="#1b6e3c"/>')
        parts.append(f'<text x="{246 + wide:.1f}" y="{y + 12}">{100 * share:.2f} %</text>')
    return "".join(parts) + "</svg>"


def page(text: str, height: int = 640) -> str:
    """A page of HTML within a notebook: in a frame without scripts, so that its style stays its own."""
    import html

    return (
        f'<iframe sandbox srcdoc="{html.escape(text, quote=True)}" '
        f'style="width:100%;height:{height}px;border:1px solid #ccc"></iframe>'
    )


class Bar:
    """A piece of work that is shown: its words, its size where that is known, and the bar once there is one."""

    __slots__ = ("words", "total", "done", "shown")

    def __init__(self, words: str, total: int | None) -> None:
        self.words, self.total, self.done = words, total, 0
        self.shown: Any = None


class Bars:
    """Shows how far work is, by tqdm, after two seconds; warnings become Python's."""

    def __init__(self, tqdm: Any) -> None:
        import time

        self.tqdm, self.clock, self.started = tqdm, time.monotonic, time.monotonic()
        self.bars: list[Bar] = []

    def __call__(self, kind: str, words: str, number: int | None) -> None:
        if kind == "begins":
            self.bars.append(Bar(words, number))
        elif self.bars and kind == "ends":
            bar = self.bars.pop()
            if bar.shown is not None:
                bar.shown.close()
        elif self.bars and kind in ("advanced", "at"):
            self.update(self.bars[-1], kind, words, number)
        else:
            warn(kind, words, number)

    def update(self, bar: Bar, kind: str, words: str, number: int | None) -> None:
        """Moves the innermost bar on; a bar appears once the work has lasted two seconds."""
        bar.done += (number or 0) if kind == "advanced" else 1
        if bar.shown is None and self.clock() - self.started > 2:
            counts_bytes = kind == "advanced"
            unit = "B" if counts_bytes else "step"
            bar.shown = self.tqdm(desc=bar.words, total=bar.total, unit=unit, unit_scale=counts_bytes)
        if bar.shown is not None:
            bar.shown.update(bar.done - bar.shown.n)
            if kind == "at":
                bar.shown.set_postfix_str(words)


def warn(kind: str, words: str, number: int | None) -> None:
    """Shows nothing but warnings."""
    if kind == "warning":
        warnings.warn(words, HedgerowWarning, stacklevel=_depth())


def _depth() -> int:
    """How far up the stack the caller of the package is, so that a warning names a line of the caller's."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth


def watcher(progress: bool | Watcher | None) -> Watcher:
    """What the library calls while it works: the caller's function; bars, where tqdm is there and somebody watches; or
    nothing but warnings."""
    if callable(progress):
        return progress
    if progress and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return warn
        return Bars(tqdm)
    return warn
