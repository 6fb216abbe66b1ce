"""A catalogue of statements on bytes that are decided in no time, of every kind and outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mmaproof.proofs.obligation import (
    Certificate,
    Deduction,
    Equation,
    Inputs,
    Method,
    Obligation,
    Property,
    RingProperty,
    Status,
    Theorem,
    Variable,
)
from mmaproof.proofs.verdict import Verdict
from mmaproof.spec.algebra import Algebra
from mmaproof.spec.formats import U8

BYTES = (Variable("x", U8, (2,)), Variable("y", U8, (1,)))


def _sum(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x, y = alg.integer(v["x"], U8), alg.integer(v["y"], U8)
    yield Equation(alg.wrap(x + y, U8), alg.wrap(y + x, U8), U8, label="sum")


def _absorption(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x, y = alg.integer(v["x"], U8), alg.integer(v["y"], U8)
    yield Equation(alg.wrap(x + y, U8), v["x"], U8, label="x + y against x")


COMMUTES = Obligation("power/toy/addition/commutes", "∀ x, y: x + y = y + x", lambda: Property(BYTES, _sum))
FALSE = Obligation("power/toy/addition/absorbs", "∀ x, y: x + y = x", lambda: Property(BYTES, _absorption))
PINNED = replace(
    FALSE,
    id="power/toy/addition/absorbs-pinned",
    goal=lambda: Property(BYTES, _absorption, pinned={"x": [255, 0], "y": 1}),
    expect=Status.REFUTED,
)
IN_RING = Obligation(
    "power/toy/other/ring",
    "x + y = x in ℤ[x, y]",
    lambda: RingProperty(BYTES, _absorption),
    method=Method.STRUCTURAL,
)
ENUMERATED = Obligation(
    "power/toy/other/enumerated",
    "∀ x, y: x + y = y + x",
    lambda: Certificate(lambda: None, 1 << 16, Property(BYTES, _sum)),
    method=Method.CERTIFICATE,
)
INDUCTIVE = Obligation(
    "power/toy/other/inductive", "for all n", lambda: Deduction((COMMUTES.id,)), method=Method.DEDUCTION
)

OBLIGATIONS: Mapping[str, Obligation] = {
    o.id: o for o in (COMMUTES, FALSE, PINNED, IN_RING, ENUMERATED, INDUCTIVE)
}


def _theorem(name: str, title: str) -> Theorem:
    members = [o for o in OBLIGATIONS.values() if o.id.startswith(f"{name}/")]
    return Theorem(name, title, "Bytes add.", "arithmetic <&> school", lambda: iter(members))


THEOREMS = (_theorem("power/toy/addition", "Sums of bytes"), _theorem("power/toy/other", "Other <methods>"))

PASSING = (COMMUTES, PINNED)
"""Obligations whose verdicts are the expected ones."""


def verdict(obligation: Obligation, status: Status, message: str = "") -> Verdict:
    return Verdict(obligation.id, status, "a solver 1.0", 0.25, message=message)
