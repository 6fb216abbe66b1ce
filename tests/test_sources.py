"""docs/sources.md lists what is cited, and the sections."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from source_modules import LAYERS

from mmaproof.proofs.catalogue import theorems
from mmaproof.spec.instruction_set import NAMES, instruction_set

REPOSITORY = Path(__file__).parent.parent
TEXT = (REPOSITORY / "docs" / "sources.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.*$", TEXT, re.M)]
KEYS = [row[0].strip("`") for row in ROWS]
SECTIONED = {row[0].strip("`"): row[2] for row in ROWS if len(row) == 3}

_BEFORE = r"(?:sections?|chapters?|and|to|,|ISA|;)\s+"
NUMBERED = re.compile(_BEFORE + r"(\d+(?:\.\d+)*)(?![-\d])")
ROMAN = re.compile(_BEFORE + r"([IV]+(?:-[A-Z]\d?)?)\b")
"""The sections of papers that the IEEE prints."""


@cache
def citations() -> tuple[str, ...]:
    """Return every source of a rule, contradiction, open point and theorem, and those of docstrings."""
    found = dict.fromkeys(theorem.source for theorem in theorems())
    for isa in map(instruction_set, NAMES):
        for table in ("rules", "contradictions"):
            found |= dict.fromkeys(row["source"] for row in isa.tables[table]())
        found |= dict.fromkeys(point.source for point in isa.open_points)
    return (*found, *docstring_citations())


def docstring_citations() -> Iterator[str]:
    """Yield what stands after ``Source:`` in docstrings, up to the end of the sentence."""
    for path in sorted(path for layer in LAYERS for path in (REPOSITORY / layer).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = (ast.get_docstring(node) or "") + " "
                for found in re.findall(r"\bSources?:\s+(.*?)(?<! al)\.(?:\s|$)", text, re.DOTALL):
                    yield " ".join(found.split())


def cited_keys(citation: str) -> list[str]:
    return [key for key in KEYS if key in citation]


def test_every_citation_is_listed() -> None:
    assert [citation for citation in citations() if not cited_keys(citation)] == []


DOCUMENT = re.compile(r"sections? \d|chapter|arXiv|issue|pull request|manual|Specification|ISA\b|\.hpp")
"""What only documents are spoken of with."""


def test_every_part_that_speaks_of_a_document_names_one_that_is_listed() -> None:
    parts = [part for citation in citations() for part in citation.split(";") if DOCUMENT.search(part)]
    assert [part for part in parts if not cited_keys(part)] == []


def test_every_listed_source_is_cited() -> None:
    unused = [key for key in KEYS if not any(key in citation for citation in citations())]
    assert unused == []


@pytest.mark.every_run
@pytest.mark.parametrize("key", SECTIONED)
def test_the_cited_sections_are_listed(key: str) -> None:
    listed = set(re.split(r",\s*", SECTIONED[key]))
    assert listed == sections(key), f"sections of {key}: {', '.join(ordered(sections(key)))}"


def sections(key: str) -> set[str]:
    """Return the section numbers that follow a document's name, up to the next document's."""
    found = set()
    for citation in citations():
        for part in re.split(";", citation):
            if key in part:
                after = part.split(key, 1)[1].removeprefix(" 9.1").removeprefix(" 3.1").removeprefix("-2019")
                found |= set(
                    (ROMAN if key == "Moreira et al" else NUMBERED).findall("; " + after.lstrip(" ."))
                )
    return found


def ordered(places: set[str]) -> list[str]:
    return sorted(places, key=lambda place: [(len(part), part) for part in re.split(r"[.-]", place)])


@pytest.mark.parametrize("word", ["reference section", "reference (C", "../shared", "seed "])
def test_no_source_is_a_document_that_users_do_not_have(word: str) -> None:
    assert [citation for citation in citations() if word in citation] == []
