"""The walk of docs/src/python.md: every block of Python there, in order, in a folder of its own."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "src" / "python.md"


def test_the_walk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python run by python/tests/test_walk\.py\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert len(blocks) >= 7
    names = {}
    for place, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, block {place + 1}", "exec"), names)
    assert (tmp_path / "study" / "study.toml").exists() and (tmp_path / "report.html").exists()
    assert names["released"]["disease"].value_counts().to_dict() == names["patients"]["disease"].value_counts().to_dict()
    assert names["together"].baselines
