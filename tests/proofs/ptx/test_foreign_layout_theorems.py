"""Faults in how layouts of CuTe and Triton are read, written and compared are refuted by their formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import unexpected
from theorem_mutants import Mutant, Patch, entry_changed, refutation_of

from mmaproof.proofs.ptx import foreign_layouts
from mmaproof.proofs.ptx.foreign_layouts import loads, published, verdicts, written
from mmaproof.proofs.ptx.stated import foreign_layouts as stated
from mmaproof.spec.foreign_layouts import (
    against,
    cute,
    cute_comparison,
    cute_text,
    linear,
    rows,
    shared_memory,
    transport,
)
from mmaproof.spec.foreign_layouts.comparison import Comparison, Verdict
from mmaproof.spec.foreign_layouts.distribution import Distribution


def test_the_specification_agrees() -> None:
    assert unexpected(foreign_layouts.THEOREMS) == {}


def returns(owner: Any, name: str, change: Any) -> Patch:
    """Return the fault that a function returns something else."""
    found = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *arguments: change(found(*arguments)))


def a_fragment_of_another_instruction(patch: pytest.MonkeyPatch) -> None:
    a, _, c = (stated.TRAITS[stated.mma("m16n8k16", stated.F16)][operand] for operand in "abc")
    turned = {"a": a.replace("(16,8,128)", "(16,128,8)"), "c": c}
    entry_changed(stated, "TRAITS", stated.mma("m16n8k16", stated.F16), turned)(patch)


def rows_first(patch: pytest.MonkeyPatch) -> None:
    found = cute_comparison.cute_layout

    def turned(expected: Distribution) -> Any:
        return found(replace(expected, order=(*reversed(expected.order[:2]), *expected.order[2:])))

    patch.setattr(against, "cute_layout", turned)
    patch.setattr(cute_comparison, "cute_layout", turned)


def everything_is_equal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cute_comparison, "compare", lambda claim, expected: Comparison(Verdict.EQUAL, ""))


def upward_swizzles(patch: pytest.MonkeyPatch) -> None:
    found = cute.Swizzle.__call__

    def turned(self: cute.Swizzle, offset: Any) -> Any:
        return found(cute.Swizzle(self.bits, self.base, -self.shift), offset)

    patch.setattr(cute.Swizzle, "__call__", turned)


def half_the_banks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_memory, "ROW_BITS", 64)


def halves_exchanged(patch: pytest.MonkeyPatch) -> None:
    found = transport._pieces

    def turned(*arguments: Any) -> transport.Pieces:
        pieces = found(*arguments)
        place = pieces.place ^ 1 if pieces.bits < 16 else pieces.place
        return transport.Pieces(pieces.bits, pieces.row, place)

    patch.setattr(transport, "_pieces", turned)


def pairs_in_a_register(patch: pytest.MonkeyPatch) -> None:
    found = against.uncompressed
    patch.setattr(against, "uncompressed", lambda stored: replace(found(stored), per_register=2))


def elements_of_two_bytes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cute_text, "_BYTE_BITS", 16)


def twice_the_memory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_memory, "MAX_OFFSET", 1 << 23)


def lenient_tables(patch: pytest.MonkeyPatch) -> None:
    found = rows.csv.DictReader
    patch.setattr(rows.csv, "DictReader", lambda lines, **how: found(lines, **{**how, "strict": False}))


NOTATIONS = foreign_layouts.THEOREMS[0]

MUTANTS: tuple[Mutant, ...] = (
    (a_fragment_of_another_instruction, published, "cute"),
    (returns(linear, "_vectors", lambda basis: basis[::-1]), published, "linear"),
    (rows_first, written, "cute"),
    (rows_first, verdicts, "strides"),
    (everything_is_equal, verdicts, "strides"),
    (returns(transport, "bank_conflicts", lambda ways: ways + 1), loads, "delivered"),
    (upward_swizzles, loads, "delivered"),
    (half_the_banks, loads, "delivered"),
    (halves_exchanged, loads, "delivered"),
    (twice_the_memory, verdicts, "refused"),
    (elements_of_two_bytes, verdicts, "refused"),
    (pairs_in_a_register, verdicts, "said"),
    (returns(linear, "_holder", lambda name: "register" if name == "offset" else name), NOTATIONS, "refused"),
    (lenient_tables, NOTATIONS, "refused"),
    (everything_is_equal, NOTATIONS, "strides"),
)

test_a_fault_is_refuted = refutation_of(MUTANTS)
