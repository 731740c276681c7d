"""How objects look in a notebook, and how long work shows that it goes on."""

from __future__ import annotations

import html
import sys
import warnings


class HedgerowWarning(UserWarning):
    """What a person should hear of though the work goes on."""


def table(rows, header=None):
    """A table of HTML; every text is escaped."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    head = f"<thead>{line(header, 'th')}</thead>" if header else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def bars(losses):
    """Shares of 1 as bars, an SVG that stands alone: ``[(label, share), …]``."""
    if not losses:
        return ""
    high, most = 22 * len(losses) + 8, max(share for _, share in losses) or 1.0
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="480" height="{high}" font-family="sans-serif" font-size="12" role="img">']
    for place, (label, share) in enumerate(losses):
        y = 22 * place + 6
        wide = 220 * share / most
        parts.append(f'<text x="0" y="{y + 12}">{html.escape(label)}</text>')
        parts.append(f'<rect x="170" y="{y}" width="{wide:.1f}" height="16" fill="#1b6e3c"/>')
        parts.append(f'<text x="{176 + wide:.1f}" y="{y + 12}">{100 * share:.2f} %</text>')
    return "".join(parts) + "</svg>"


def page(text, height=640):
    """A page of HTML within a notebook: in a frame without scripts, so that its style stays its own."""
    return (
        f'<iframe sandbox srcdoc="{html.escape(text, quote=True)}" '
        f'style="width:100%;height:{height}px;border:1px solid #ccc"></iframe>'
    )


class Progress:
    """Shows how far work is, by tqdm if it is there, after two seconds; warnings become Python's."""

    def __init__(self):
        import time

        self.clock, self.bars, self.started, self.at = time.monotonic, [], time.monotonic(), ""
        try:
            if not sys.stderr.isatty() and "ipykernel" not in sys.modules:
                raise ImportError("nobody watches")
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self.tqdm = tqdm

    def __call__(self, kind, words, number):
        if kind in ("warning", "hint", "note"):
            if kind == "warning":
                warnings.warn(words, HedgerowWarning, stacklevel=2)
        elif self.tqdm is None:
            pass
        elif kind == "begins":
            self.bars.append([words, number, None, 0])
        elif self.bars and kind == "ends":
            bar = self.bars.pop()[2]
            if bar is not None:
                bar.close()
        elif self.bars:
            self.update(self.bars[-1], kind, words, number)

    def update(self, entry, kind, words, number):
        """Moves the innermost bar on; a bar appears once the work has lasted two seconds."""
        name, total, bar, done = entry
        entry[3] = done = done + (number or 0 if kind == "advanced" else 1)
        if bar is None and self.clock() - self.started > 2:
            entry[2] = bar = self.tqdm(desc=name, total=total, initial=0, unit="B" if total else "step", unit_scale=bool(total))
        if bar is not None:
            bar.update(done - bar.n)
            if kind == "at":
                bar.set_postfix_str(words)


def watcher(progress):
    """What the library calls while it works: nothing, the caller's function, or a bar."""
    if progress is False or progress is None:
        return Silent()
    return Progress() if progress is True else progress


class Silent:
    """Shows nothing but warnings."""

    def __call__(self, kind, words, number):
        if kind == "warning":
            warnings.warn(words, HedgerowWarning, stacklevel=2)
