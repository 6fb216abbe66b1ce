"""The pinned set of obligations: the shipped file, and every way in which a catalogue can leave it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toy_theorems import COMMUTES, FALSE, OBLIGATIONS, PINNED

from mmaproof.proofs import catalogue
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.pinned import COMMAND, differences, parsed, pinned, pinned_text
from mmaproof.spec.errors import InputError


def test_the_shipped_file_is_the_catalogue() -> None:
    assert pinned() == {o.id: o.expect for o in catalogue.obligations().values()}, f"run {COMMAND}"
    assert differences() == ()


def test_a_file_reads_as_it_was_written_in_any_order() -> None:
    text = pinned_text(OBLIGATIONS.values())
    assert parsed(text) == {o.id: o.expect for o in OBLIGATIONS.values()}
    assert pinned_text(reversed(OBLIGATIONS.values())) == text


@pytest.mark.parametrize(
    ("built", "kind"),
    [
        ({}, "vanished"),
        ({o.id: o for o in (COMMUTES, FALSE)}, "appeared"),
        ({COMMUTES.id: replace(COMMUTES, expect=Status.REFUTED)}, "changed"),
    ],
)
def test_what_differs_is_told_apart(monkeypatch: pytest.MonkeyPatch, built: dict, kind: str) -> None:
    chosen = lambda patterns: [o for o in built.values() if catalogue.selects(patterns, o.id)]  # noqa: E731
    monkeypatch.setattr("mmaproof.proofs.pinned.matching", chosen)
    monkeypatch.setattr("mmaproof.proofs.pinned.pinned", lambda: {COMMUTES.id: Status.PROVED})
    (found,) = differences()
    assert found.kind == kind and found.reason.startswith(kind)
    assert differences([found.id]) == (found,)
    assert differences(["power/toy/other"]) == ()


def test_what_vanished_under_a_pattern_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = {"power/state/initial/gone": Status.PROVED, "ptx/gone/gone/gone": Status.PROVED}
    listed = {**pinned(), **gone}
    monkeypatch.setattr("mmaproof.proofs.pinned.pinned", lambda: listed)
    assert [found.id for found in differences(["power/state"])] == ["power/state/initial/gone"]
    assert {found.id for found in differences()} == set(gone)


@pytest.mark.parametrize(
    "line", ["", PINNED.id, f"{PINNED.id} maybe", f"{PINNED.id} unknown", f"{COMMUTES.id} proved"]
)
def test_a_line_that_says_nothing_is_named(line: str) -> None:
    with pytest.raises(InputError, match=r"pinned_obligations\.txt:2: "):
        parsed(f"{COMMUTES.id} proved\n{line}\n")
