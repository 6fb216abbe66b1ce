"""Tables in files have a source in every row; certificates of them find what is wrong, missing or surplus."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_modules import REPOSITORY

from mmaproof.proofs import catalogue, table_theorem
from mmaproof.proofs.catalogue import matching
from mmaproof.proofs.table_theorem import Table, cell
from mmaproof.proofs.text_tables import table

PACKAGE = "mmaproof.proofs.power.stated"
FILES = sorted((REPOSITORY / "proofs").rglob("*.tsv"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_rows_have_a_source_and_are_not_repeated(path: Path) -> None:
    names, *found = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert names[-1] == "source" and len(set(names)) == len(names) and found
    assert all(len(row) == len(names) and row[-1].strip() for row in found)
    assert len({tuple(row) for row in found}) == len(found)
    package = ".".join(("mmaproof", *path.relative_to(REPOSITORY).parts[:-1]))
    assert [list(row) for row in table(package, path.stem)] == [names[:-1]] * len(found)


def asked(question, every=(), only=None):
    return Table(PACKAGE, "registers", "what", question, every, only)().check()


def test_what_a_table_says_is_what_is_answered() -> None:
    listed = {row["what"]: row["number"] for row in table(PACKAGE, "registers")}
    assert asked(listed.get) is asked(listed.get, listed) is None
    assert asked({**listed, "rows": 5}.get) == "rows: 4 is stated, 5 specified"
    assert asked({**listed, "pages": 7}.get, ["pages"]) == "pages is specified, and not stated"
    few = Table(PACKAGE, "registers", "what", listed.get).by("what")
    assert list(few) == list(listed)


def test_answers_are_written_as_in_tables() -> None:
    answers = [None, True, False, 3.1, {"b", "a"}, ["b", 1], "x"]
    assert [cell(answer) for answer in answers] == ["", "yes", "no", "3.1", "a b", "b 1", "x"]


def test_no_answer_of_a_table_can_be_changed(monkeypatch) -> None:
    """One cell of the last row that each certificate is about."""
    monkeypatch.setattr(catalogue, "_remembered", {})  # what a cache says builds its goals anew
    found = {each.id: each.goal for each in matching(()) if isinstance(each.goal, Table)}
    assert len(found) > 40
    for identifier, compared in found.items():
        known = table(compared.package, compared.name)
        row = [row for row in known if row.items() >= (compared.only or {}).items()][-1]
        column = [name for name in row if name not in compared.asked.split(", ")][-1]
        changed = [{**each, column: "another"} if each is row else each for each in known]
        monkeypatch.setattr(table_theorem, "table", lambda package, name, rows=changed: rows)
        assert "another is stated" in (compared().check() or "none"), identifier
