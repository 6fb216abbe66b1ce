"""Theorems about scalar instructions: verdicts, and faults in rows that must be refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import unexpected, vacuous
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import scalar_integers, scalar_words
from mmaproof.spec.ptx.scalar import bits, integers
from mmaproof.spec.ptx.scalar.rows import Form
from mmaproof.spec.word_algebra import A, B, Control, Field, Fill, WordAlgebra, unsigned

THEOREMS = (*scalar_words.THEOREMS, *scalar_integers.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(THEOREMS) == []


def _with(mnemonic: str, meaning: Any) -> Any:
    """Return the fault that a form has another meaning."""

    def changed(patch: pytest.MonkeyPatch) -> None:
        genuine = scalar_words.form_named

        def form_named(name: str) -> Form:
            form = genuine(name)
            return replace(form, row=replace(form.row, meaning=meaning)) if name == mnemonic else form

        for module in (scalar_words, scalar_integers):
            patch.setattr(module, "form_named", form_named)

    changed.__name__ = mnemonic.replace(".", "_")
    return changed


def _shf_32(alg: WordAlgebra, form: Form, a: Any, b: Any, c: Any) -> Any:
    """Take the amount modulo 32 though it is clamped."""
    plan = lambda n: [Field(n, 32 - n, 0), Field(0, n, 1)]  # noqa: E731
    return alg.steer(plan, [Control(c, 31, 31)], a, b)


def _bfe_masked(alg: WordAlgebra, form: Form, a: Any, b: Any, c: Any) -> Any:
    """Take the whole position, not its low byte."""

    def plan(position: int, length: int) -> Any:
        inside = min(length, 32 - position)
        return [Field(position, inside), Fill(0, 32 - inside)]

    return alg.steer(plan, [Control(b, 0xFFFFFFFF, 32), Control(c, 0xFF, 32)], a)


def _bfe_zero(alg: WordAlgebra, form: Form, a: Any, b: Any, c: Any) -> Any:
    """Fill with zeros behind the end of the word."""

    def plan(position: int, length: int) -> Any:
        inside = min(length, 32 - position)
        return [Field(position, inside, 0, 32)] if inside else [Fill(0, 32)]

    return alg.steer(plan, [Control(b, 0xFF, 32), Control(c, 0xFF, 32)], a)


def _carry_out(alg: WordAlgebra, form: Form, a: Any, b: Any, carry: Any) -> Any:
    """Forget the carry that the carry itself makes."""
    total = alg.add(32, a, b, alg.extend(32, unsigned(1), carry))
    return total, alg.compare(unsigned(32), "lt", total, a)


def _unsigned_high(alg: WordAlgebra, form: Form, a: Any, b: Any) -> Any:
    return alg.high_product(unsigned(32), a, b)


def _exclusive(alg: WordAlgebra, form: Form, a: Any, b: Any) -> Any:
    return alg.bitwise(A ^ B, 32, a, b)


def _unsigned_place(alg: WordAlgebra, form: Form, a: Any) -> Any:
    """Take the highest bit that is 1, not the highest that differs from the sign."""
    return alg.add(32, alg.constant(31, 32), alg.negate(32, alg.leading_zeros(32, a)))


_MODES = {**bits._MODES, "b4e": bits._MODES["f4e"]}


def _backwards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bits, "_MODES", _MODES)


test_a_fault_is_refuted = refutation_of(
    [
        (_with("shf.r.clamp.b32", _shf_32), scalar_words.moves, "shf.r.clamp.b32"),
        (_with("bfe.u32", _bfe_masked), scalar_words.moves, "bfe.u32"),
        (_with("bfe.s32", _bfe_zero), scalar_words.moves, "bfe.s32"),
        (_backwards, scalar_words.moves, "prmt.b32.b4e"),
        (_with("or.b32", _exclusive), scalar_words.logic_and_counts, "or.b32"),
        (_with("bfind.s32", _unsigned_place), scalar_words.logic_and_counts, "bfind.s32"),
        (_with("addc.cc.u32", _carry_out), scalar_integers.carries, "addc.cc.u32"),
        (_with("mul.hi.s32", _unsigned_high), scalar_integers.halves, "mul.wide.s32"),
        (
            _with("sad.s32", lambda alg, form, a, b, c: alg.add(32, c, integers.subtracted(alg, 32, a, b))),
            scalar_integers.exact_integers, "sad.s32",
        ),
        (
            _with("add.sat.s32", lambda alg, form, a, b: alg.add(32, a, b)),
            scalar_integers.exact_integers, "add.sat.s32",
        ),
    ]
)  # fmt: skip
