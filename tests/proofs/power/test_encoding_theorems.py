"""The theorems on encodings hold, say something, and notice wrong layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import judged, unexpected, vacuous

from mmaproof.proofs.obligation import Goal, Property, Status
from mmaproof.proofs.power import encoding as theorems
from mmaproof.spec.power.encoding import LAYOUTS, Layout, Word, fields
from mmaproof.spec.power.forms import FORMS

PAIRS = sorted(form.mnemonic for form in FORMS.values() if any(o.multiple == 2 for o in form.operands))


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(theorems.THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(theorems.THEOREMS) == []


@pytest.mark.parametrize("theorem", [theorems.round_trip, theorems.unique], ids=lambda t: t.id)
def test_there_is_one_obligation_for_each_form(theorem: Any) -> None:
    names = [case.name for case in theorem.cases()]
    assert [name for name in names if "/" not in name] == list(FORMS)
    assert [name for name in names if "/" in name] in ([], [f"{each}/fixed-bits" for each in FORMS])


def test_every_form_with_a_pair_has_a_refutation() -> None:
    assert sorted(case.name for case in theorems.odd_pair.cases()) == PAIRS


def layout_of(mnemonic: str) -> Layout:
    return LAYOUTS[FORMS[mnemonic]]


def with_bits(layout: Layout, **bits: int) -> Layout:
    """Return the layout with cached masks replaced, past the check that they are a partition."""
    mutant = replace(layout)
    mutant.__dict__.update(bits)
    return mutant


def round_trip(layout: Layout) -> Property:
    return theorems._round_trip(layout)


def others(layout: Layout) -> tuple[Layout, ...]:
    return tuple(o for o in LAYOUTS.values() if o.size == layout.size and o.form != layout.form)


def unique(layout: Layout) -> Property:
    return theorems._unique(layout, others(layout))


def assert_refuted(goal: Goal, label: str) -> None:
    verdict = judged(goal)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays
    assert verdict.counterexample.difference is not None
    assert label in verdict.counterexample.difference.label


class Swapped(Layout):
    """A layout that reads one operand from the field of another."""

    def extract(self, word: Word) -> dict[str, Word]:
        values: Mapping[str, Word] = super().extract(word)
        first, second, *rest = values
        return {first: values[second], second: values[first], **{name: values[name] for name in rest}}


@pytest.mark.parametrize("mnemonic", ["xvf32ger", "pmxvi8ger4spp", "lxv", "stxvpx", "addi"])
def test_swapped_fields_are_refuted(mnemonic: str) -> None:
    layout = layout_of(mnemonic)
    assert_refuted(round_trip(Swapped(layout.form, layout.fields)), "of extract(assemble(v))")


@pytest.mark.parametrize("mnemonic", ["xvf32ger", "pmxvf64gernn", "xxmtacc", "lxvpx", "bdnz"])
def test_a_bit_missing_in_the_mask_is_refuted(mnemonic: str) -> None:
    layout = layout_of(mnemonic)
    lowest = layout.mask & -layout.mask
    assert_refuted(round_trip(with_bits(layout, mask=layout.mask ^ lowest)), "assemble(extract(w)) = w")


@pytest.mark.parametrize("mnemonic", ["xvf32ger", "pmxvf64gernn", "lxv", "addi"])
def test_an_operand_bit_in_the_mask_is_refuted(mnemonic: str) -> None:
    layout = layout_of(mnemonic)
    operand_bit = 1 << layout.parts[0].position
    assert_refuted(round_trip(with_bits(layout, mask=layout.mask | operand_bit)), "matches(assemble(v))")


@pytest.mark.parametrize("mnemonic", ["xvf32ger", "pmxvi4ger8"])
def test_a_wrong_opcode_bit_is_refuted(mnemonic: str) -> None:
    layout = layout_of(mnemonic)
    inside_operand = layout.match | 1 << layout.parts[0].position
    assert_refuted(round_trip(with_bits(layout, match=inside_operand)), "")


@pytest.mark.parametrize(
    ("mnemonic", "diagram", "message"),
    [
        ("xvf32ger", "59:6 AT:3 /:2 A:5 B:5 26:8 AX:1 BX:1 /:1", "a word can be xvf32ger and xvf32gerpp"),
        ("lxv", "61:6 T:5 RA:5 DQ:12 TX:1 5:3", "a word can be lxv and stxv"),
        ("lxvp", "6:6 Tp:4 TX:1 RA:5 DQ:12 1:4", "a word can be lxvp and stxvp"),
        ("addi", "1:6 RT:5 RA:5 SI:16", "addi has the primary opcode 1"),
        (
            "pmxvf32ger",
            "2:6 3:2 9:4 /:4 /:8 XMSK:4 YMSK:4 59:6 AT:3 /:2 A:5 B:5 27:8 AX:1 BX:1 /:1",
            "pmxvf32ger has the primary opcode 2",
        ),
    ],
)
def test_an_opcode_of_another_instruction_is_refuted(mnemonic: str, diagram: str, message: str) -> None:
    mutant = Layout(FORMS[mnemonic], fields(diagram))
    assert_refuted(theorems._distinct(mutant, others(mutant)), message)
    assert_refuted(unique(mutant), "")


def test_forgotten_reserved_bits_make_an_overlap() -> None:
    layout = layout_of("xvf32ger")
    forgotten = with_bits(layout, mask=layout.opcode_mask)
    assert_refuted(unique(forgotten), "matches if no reserved bit is set")
