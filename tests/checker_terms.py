"""Pairs of terms that are equal over the reals, and others that are not."""

from __future__ import annotations

import numpy as np

from mmaproof.refinement.checker.evaluated import Checked, Taken, checked
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, FloatFormat


class Terms:
    """Terms of f32 over inputs of an array."""

    def __init__(self) -> None:
        self.store = TermStore()

    def x(self, index: int, fmt: FloatFormat = F32) -> int:
        return int(self.store.inputs("x", fmt, index))

    def number(self, value: float) -> int:
        return int(self.store.constants(int(np.float32(value).view(np.uint32)), 32))

    def plus(self, one: int, other: int) -> int:
        return self._made(operations.fused(F32, (), (F32, F32)), one, other)

    def times(self, one: int, other: int) -> int:
        return self._made(operations.fused(F32, ((F32, F32),)), one, other)

    def minus(self, one: int) -> int:
        return self._made(operations.negate(F32), one)

    def function(self, name: str, *of: int) -> int:
        return int(self.store.apply(operations.function(name, F32, *(F32,) * len(of)), *of))

    def extremum(self, which: str, one: int, other: int) -> int:
        return self._made(operations.extremum(F32, which), one, other)

    def choice(self, sign: str, one: int, other: int, then: int, otherwise: int) -> int:
        condition = self._made(operations.compare_as(F32, sign), one, other)
        return self._made(operations.select(32), condition, then, otherwise)

    def _made(self, operation: operations.Operation, *of: int) -> int:
        return int(apply(self.store, operation, *of))

    def checked(self, one: int, other: int, how: Taken | None = None) -> Checked:
        pair = np.array([one], np.int32), np.array([other], np.int32)
        return checked(self.store, *pair, F32, Taken() if how is None else how)


RIGHT = {
    "distributed": lambda t: (
        t.times(t.x(0), t.plus(t.x(1), t.x(2))),
        t.plus(t.times(t.x(0), t.x(1)), t.times(t.x(0), t.x(2))),
    ),
    "a quotient is a product": lambda t: (
        t.function("div", t.x(0), t.x(1)),
        t.times(t.x(0), t.function("rcp", t.x(1))),
    ),
    "a power of a sum": lambda t: (
        t.function("ex2.approx.ftz", t.plus(t.x(0), t.x(1))),
        t.times(t.function("ex2", t.x(0)), t.function("ex2", t.x(1))),
    ),
    "a maximum is a choice": lambda t: (
        t.extremum("max", t.x(0), t.x(1)),
        t.choice(">", t.x(0), t.x(1), t.x(0), t.x(1)),
    ),
    "a third of three": lambda t: (t.times(t.times(t.x(0), t.number(1 / 3)), t.number(3)), t.x(0)),
    "a root of a square": lambda t: (
        t.function("sqrt", t.times(t.x(0), t.x(0))),
        t.extremum("max", t.x(0), t.minus(t.x(0))),
    ),
    "a hyperbolic tangent": lambda t: (
        t.function("tanh.approx", t.x(0)),
        t.minus(t.function("tanh", t.minus(t.x(0)))),
    ),
}

WRONG = {
    "a sign": lambda t: (t.plus(t.x(0), t.x(1)), t.plus(t.x(0), t.minus(t.x(1)))),
    "another element": lambda t: (t.times(t.x(0), t.x(1)), t.times(t.x(0), t.x(2))),
    "a constant": lambda t: (t.times(t.x(0), t.number(0.5)), t.times(t.x(0), t.number(0.50001))),
    "a great constant": lambda t: (t.plus(t.plus(t.x(0), t.number(2**23)), t.number(-(2**23))), t.x(0)),
    "a power": lambda t: (t.function("ex2", t.x(0)), t.function("ex2", t.times(t.x(0), t.number(1.0001)))),
    "a limit": lambda t: (t.extremum("max", t.x(0), t.number(0)), t.extremum("max", t.x(0), t.number(0.25))),
    "a limit far away": lambda t: (t.extremum("min", t.x(0), t.number(6000)), t.x(0)),
    "a hole": lambda t: (
        t.choice(
            "<",
            t.extremum("max", t.plus(t.x(0), t.number(-3.3)), t.minus(t.plus(t.x(0), t.number(-3.3)))),
            t.number(0.001),
            t.number(0),
            t.times(t.x(0), t.x(0)),
        ),
        t.times(t.x(0), t.x(0)),
    ),
    "an end of a choice": lambda t: (
        t.choice("<", t.x(0), t.number(77), t.x(0), t.x(1)),
        t.choice("<=", t.x(0), t.number(77), t.x(0), t.x(1)),
    ),
    "NaN for all inputs": lambda t: (t.plus(t.x(0), t.number(np.nan)), t.x(0)),
}
