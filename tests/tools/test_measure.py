"""The measures of a tree whose statements, imports and circles are counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.measure import components, longest_chain, main, measures

FILES = {
    "package/__init__.py": '"""Docstring."""\n__version__ = "1"\n',
    "spec/__init__.py": "",
    "spec/bits.py": '"""Docstring."""\nX = 1\n',
    "spec/words.py": "from .bits import X\n\ndef f():\n    '''Docstring.'''\n    return X\n",
    "refinement/__init__.py": "",
    "refinement/lazy.py": "def f():\n    from . import late\n    return late\n",
    "refinement/late.py": (
        "from typing import TYPE_CHECKING\nfrom ..spec import words\n"
        "if TYPE_CHECKING:\n    from mmaproof.refinement.inner.deep import D\n"
    ),
    "refinement/inner/__init__.py": "",
    "refinement/inner/deep.py": "import mmaproof.refinement.lazy\nD = 1\n",
    "proofs/pinned_obligations.txt": (
        "engine/rules/one proved\nptx/engine/two proved\nengine/rules/two refuted\n"
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_tree_is_measured(tree: Path) -> None:
    found = dict(measures(tree))
    assert found["statements"] == 1 + 1 + 3 + 3 + 4 + 2
    assert found["statements of refinement"] == 9 and found["modules of refinement"] == 5
    assert found["modules"] == 9 and found["modules flat in refinement"] == 3
    assert found["circles of imports"] == 1 and found["modules in circles"] == 3
    assert found["longest import chain"] == 3 + 2  # lazy, late and deep are a circle; words, bits
    assert found["obligations on the engine"] == 2


@pytest.mark.parametrize("unlazy", ["refinement/lazy.py", "refinement/late.py", "refinement/inner/deep.py"])
def test_a_circle_is_undone_by_any_of_its_imports(tree: Path, unlazy: str) -> None:
    (tree / unlazy).write_text("from ..spec import words\n" if "late" in unlazy else "")
    assert dict(measures(tree))["circles of imports"] == 0


def test_circles_that_share_a_module_are_one() -> None:
    graph = {"a": "b", "b": "ac", "c": "bd", "d": "e", "e": "", "f": "af"}
    sets = {name: frozenset(targets) for name, targets in graph.items()}
    assert [set(part) for part in components(sets)] == [{"e"}, {"d"}, {"a", "b", "c"}, {"f"}]
    assert longest_chain(sets) == 1 + 3 + 1 + 1


def test_it_is_printed_as_a_table_and_with_tabs(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tree), "--tsv"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(name, int(number)) for name, number in rows] == measures(tree)
    main([str(tree)])
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == [
        number for _, number in rows
    ]


def test_what_is_no_checkout_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main([str(tmp_path)])
    assert ending.value.code == 2 and "no checkout" in capsys.readouterr().err
