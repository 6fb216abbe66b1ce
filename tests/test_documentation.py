"""The documents say what the catalogue says, and their links lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from source_modules import LAYERS

from mmaproof.gating.table_rules import GATE_RULES
from mmaproof.proofs.catalogue import theorems
from mmaproof.proofs.obligation import Equality
from mmaproof.proofs.pinned import pinned
from mmaproof.proofs.verdict import MEANINGS
from mmaproof.refinement.findings.finding import Kind
from mmaproof.reports.document_statements import DOCUMENTS as STATED
from mmaproof.reports.document_statements import Statement, statement_table, statements
from mmaproof.reports.glossary import names
from mmaproof.reports.theorem_table import theorem_table
from mmaproof.spec.instruction_set import NAMES, instruction_set
from tools.mutation.campaign import Fate
from tools.mutation.score_table import mutation_table

REPOSITORY = Path(__file__).parent.parent
DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
MODULE_DOCUMENTS = [*DOCUMENTS, REPOSITORY / "CONTRIBUTING.md"]


def test_theorem_list_is_generated_from_the_catalogue() -> None:
    written = (REPOSITORY / "docs" / "theorem-list.md").read_text(encoding="utf-8")
    assert written == theorem_table(), (
        "write it: python -m mmaproof.reports.theorem_table > docs/theorem-list.md"
    )


def test_the_mutation_score_is_generated_from_what_is_recorded() -> None:
    written = (REPOSITORY / "docs" / "mutation-score.md").read_text(encoding="utf-8")
    assert written == mutation_table(), (
        "write it: python -m mmaproof.reports.mutation_table > docs/mutation-score.md"
    )


def test_the_table_of_statements_is_generated() -> None:
    written = (REPOSITORY / "docs" / "document-statements.md").read_text(encoding="utf-8")
    assert written == statement_table(), (
        "write it: python -m mmaproof.reports.document_statements > docs/document-statements.md"
    )


def test_what_answers_for_a_statement_exists() -> None:
    known = {*names(), *(theorem.id for theorem in theorems()), *pinned()}
    missing = {answer for statement in statements() for answer in statement.answers} - known
    assert missing == set()


def test_a_statement_that_nothing_answers_for_has_a_reason() -> None:
    assert len(STATED) == 5
    assert [statement.text for statement in statements() if not (statement.answers or statement.remark)] == []
    cells = [cell for statement in statements() for cell in (statement.text, statement.remark)]
    assert [cell for cell in cells if "|" in cell or "\n" in cell] == []


def test_a_name_that_is_not_there_would_be_noticed() -> None:
    invented = Statement("a sentence", ("power/no-such-theorem",))
    assert not set(invented.answers) & {*names(), *(theorem.id for theorem in theorems()), *pinned()}


@pytest.mark.parametrize(
    ("term", "meaning"), [*MEANINGS.items(), *((each.value, each.meaning) for each in Equality)]
)
def test_methods_and_equalities_are_described_in_the_words_of_the_reports(term: str, meaning: str) -> None:
    text = (REPOSITORY / "docs" / "theorems.md").read_text(encoding="utf-8")
    assert f"| `{term}` | {meaning}" in text


@pytest.mark.parametrize("kind", Kind)
def test_kinds_of_findings_are_in_the_schema_and_the_command_line(kind: Kind) -> None:
    schema = json.loads((REPOSITORY / "docs" / "schemas" / "verify.schema.json").read_text(encoding="utf-8"))
    assert kind in schema["properties"]["findings"]["items"]["properties"]["kind"]["enum"]
    text = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert any(kind in row.split("|")[1].strip().split(", ") for row in re.findall(r"^\|.*\|$", text, re.M))


@pytest.mark.parametrize("isa", NAMES)
def test_tables_are_in_the_schema_and_the_command_line(isa: str) -> None:
    schema = json.loads((REPOSITORY / "docs" / "schemas" / "tables.schema.json").read_text(encoding="utf-8"))
    text = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in instruction_set(isa).tables:
        assert name in schema["properties"]["table"]["enum"]
        assert name in text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []
    folders = "|".join((*LAYERS, "tests", "benchmarks", "docs"))
    named = re.findall(rf"`((?:{folders})/[\w/.-]+)`", text)
    rules = {rule.id for rule in GATE_RULES}
    assert [name for name in named if name not in rules and not (REPOSITORY / name).exists()] == []


def unknown_modules(text: str) -> list[str]:
    """Return the modules that a document names in backticks, as `folder/module.py`, which do not exist.

    Folders are those of the repository, or of a layer; a name without a folder may be of any.
    """
    roots = [REPOSITORY, *(REPOSITORY / layer for layer in LAYERS)]
    named = dict.fromkeys(re.findall(r"`((?:[\w-]+/)*\w+\.py)`", text))
    return [
        name
        for name in named
        if not any((root / name).exists() for root in roots)
        and ("/" in name or not any(next((REPOSITORY / top).rglob(name), None) for top in FOLDERS))
    ]


FOLDERS = (*LAYERS, "tests", "tools", "benchmarks", "examples")


@pytest.mark.parametrize("document", MODULE_DOCUMENTS, ids=lambda path: path.name)
def test_named_modules_exist(document: Path) -> None:
    assert unknown_modules(document.read_text(encoding="utf-8")) == []


def test_a_module_that_is_not_there_would_be_noticed() -> None:
    text = "`ptx/if_conversion.py`, `ptx/run/if_conversion.py`, `no_such_module.py`, `spec/layout.py`"
    assert unknown_modules(text) == ["ptx/if_conversion.py", "no_such_module.py"]


@pytest.mark.parametrize("outcome", Fate)
def test_what_becomes_of_faults_is_described_in_the_words_of_the_command(outcome: Fate) -> None:
    text = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"| {outcome.value} | {outcome.meaning} |" in text
