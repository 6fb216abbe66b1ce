"""The documents say what the catalogue says, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mmaproof.proofs.obligation import Equality, Method
from mmaproof.proofs.reports.theorem_table import theorem_table

REPOSITORY = Path(__file__).parent.parent
DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def test_theorem_list_is_generated_from_the_catalogue() -> None:
    written = (REPOSITORY / "docs" / "theorem-list.md").read_text(encoding="utf-8")
    assert written == theorem_table(), (
        "write it: python -m mmaproof.proofs.reports.theorem_table > docs/theorem-list.md"
    )


@pytest.mark.parametrize("term", [*Method, *Equality])
def test_methods_and_equalities_are_described_in_the_words_of_the_reports(term: Method | Equality) -> None:
    text = (REPOSITORY / "docs" / "theorems.md").read_text(encoding="utf-8")
    assert f"| `{term.value}` | {term.meaning} |" in text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []
    named = re.findall(r"`((?:spec|smt|refinement|proofs|cli|tests|benchmarks|docs)/[\w/.-]+)`", text)
    assert [name for name in named if not (REPOSITORY / name).exists()] == []
