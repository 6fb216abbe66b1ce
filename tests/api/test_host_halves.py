"""Halves of files of CUDA for the host, behind headers that are compiled once; no compiler is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.api.torch.host_halves import END, HEAD, MOST_HEADERS, headers_wanted, host_source, separated


class Compiler:
    """Writes what is asked for, and counts how often."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, header: Path, made: Path) -> None:
        self.texts.append(header.read_text(encoding="utf-8"))
        made.write_text("compiled", encoding="utf-8")


def written(folder: Path, name: str, headers: str = "struct Tensor;\n", end: str = END) -> Path:
    path = folder / f"{name}.ii"
    path.write_text(f'# 1 "{name}.cu"\n{headers}{end}\n# 4 "{name}.cu"\nint {name}();\n', encoding="utf-8")
    return path


def test_headers_are_compiled_once(tmp_path: Path) -> None:
    compiler = Compiler()
    first = written(tmp_path, "first")
    assert separated(first, first, tmp_path, compiler) == first  # which may be the only one of its kind
    halves = [written(tmp_path, name) for name in ("one", "other")]
    assert host_source(halves[0], tmp_path) is None  # headers that are not compiled yet
    made = [separated(half, half, tmp_path, compiler) for half in halves]
    texts = [path.read_text(encoding="utf-8").splitlines() for path in made]
    assert texts[0][0] == texts[1][0] and texts[0][0].startswith("#include ")
    assert [text[-2:] for text in texts] == [
        ['# 4 "one.cu"', "int one();"],
        ['# 4 "other.cu"', "int other();"],
    ]
    assert [text.split() for text in compiler.texts] == [["struct", "Tensor;"]]  # and no name of a file
    plain = host_source(written(tmp_path, "third"), tmp_path)
    assert plain is not None
    assert plain.read_text(encoding="utf-8").splitlines()[0] == texts[0][0]


def test_other_headers_are_others(tmp_path: Path) -> None:
    compiler = Compiler()
    for number in range(MOST_HEADERS + 1):
        path = written(tmp_path, f"x{number}", f"struct Tensor{number};\n")
        assert separated(path, path, tmp_path, compiler) == path
        is_kept = separated(path, path, tmp_path, compiler) != path
        assert is_kept == (number < MOST_HEADERS)
    assert len(compiler.texts) == MOST_HEADERS


def test_without_their_end_nothing_is_taken_apart(tmp_path: Path) -> None:
    path = written(tmp_path, "one", end="")
    assert separated(path, path, tmp_path, Compiler()) == path


@pytest.mark.parametrize(
    ("text", "tries"),
    [
        ("std::vector<int64_t> sizes;", 2),
        ("std::function<void()> later;", 1),
        ("std::unordered_map<int, int> known;", 1),
        ('std::cout << "rows";', 1),
        ("std::minmax(a, b);", 2),
    ],
)
def test_few_headers_are_tried_first(text: str, tries: int) -> None:
    assert len(headers_wanted(HEAD + text)) == tries
    assert not headers_wanted(text)[-1]  # all of them, at last
