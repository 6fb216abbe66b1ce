"""Random terms of every operation, for the soundness tests of abstract domains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.choices import chosen
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import Operation, TermStore, bits
from mmaproof.spec.formats import BF16, E4M3, F16, F32, S8, S32, U8, UE8M0, FloatFormat, Format, IntegerFormat
from mmaproof.spec.rounding import Rounding

T = TypeVar("T")

ELEMENTS = 4
"""Of each input."""

INPUTS: dict[str, Format] = {"X": F32, "H": F16, "B": BF16, "Q": E4M3, "W": S8, "V": U8, "N": S32, "S": UE8M0}

FUNCTIONS = ("ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "rint", "floor", "ex2.approx", "rcp.approx.ftz")
RELATIONS = ("lt", "ge", "eq", "neu", "ltu", "num", "nan")
ROUNDINGS = (Rounding.NEAREST_EVEN, Rounding.TOWARD_ZERO, Rounding.UPWARD)
NUMBERS = (0.0, 1.0, -1.0, 0.5, 3.0, 12582912.0, -12582912.0, 1e-3, 65536.0, float("inf"), float("nan"))
INTEGERS = (0, 1, 2, 3, 8, 255, 256, 0xFFFFFFFF, 0x80000000, 0x0F0F0F0F)
LENGTH = 4
"""Of the vectors of dot products."""


class RandomTerms:
    """Random terms, each made of those before.

    Parameters
    ----------
    random : Generator
        Of what they are made.
    count : int
        How many operations there are.
    undefined : int
        How many of the words are undefined.

    Attributes
    ----------
    store : TermStore
        Of the terms.
    floats, halves, words, truths : list of int
        Terms of f32, f16, 32 bits and one bit.
    undefined : array
        The undefined ones.
    """

    def __init__(self, random: np.random.Generator, count: int = 12, *, undefined: int = 0) -> None:
        self.store, self._random = TermStore(), random
        inputs = {name: self.store.inputs(name, fmt, np.arange(ELEMENTS)) for name, fmt in INPUTS.items()}
        self._narrow: dict[Format, Ids] = {fmt: inputs[name] for name, fmt in INPUTS.items()}
        self.undefined: Ids = self.store.undefined(undefined, 32)
        reals = np.array(NUMBERS, dtype=np.float32).view(np.uint32)
        self.floats: list[int] = [*inputs["X"].tolist(), *self.store.constants(reals, 32).tolist()]
        self.halves: list[int] = inputs["H"].tolist()
        self.words: list[int] = [*inputs["N"].tolist(), *self.store.constants(INTEGERS, 32).tolist()]
        self.words += self.undefined.tolist()
        self.truths: list[int] = [self._compared(S32, "lt", *self._some(self.words, 2))]
        makers: Sequence[Callable[[], None]] = (
            self._sum, self._function, self._extremum, self._negation, self._conversion, self._choice,
            self._dot, self._scaled_dot, self._quotient, self._ring, self._logic, self._slice,
            self._comparison, self._moved,
        )  # fmt: skip
        for _ in range(count):
            makers[int(random.integers(len(makers)))]()

    @property
    def every(self) -> list[tuple[int, Format]]:
        """All terms that are made, with the formats in which they are read."""
        return [
            *((each, F32) for each in self.floats),
            *((half, F16) for half in self.halves),
            *((word, S32) for word in self.words),
            *((truth, bits(1)) for truth in self.truths),
        ]

    def _some(self, terms: Sequence[int], count: int) -> list[int]:
        return [int(each) for each in self._random.choice(terms, count)]

    def _one_of(self, some: Sequence[T]) -> T:
        return some[int(self._random.integers(len(some)))]

    def _apply(self, operation: Operation, *arguments: int) -> int:
        return int(apply(self.store, operation, *arguments))

    def _compared(self, fmt: Format, relation: str, *sides: int) -> int:
        return self._apply(operations.compare(fmt, relation), *sides)

    def _sum(self) -> None:
        x, y, z = self._some(self.floats, 3)
        rounding, flush = self._one_of(ROUNDINGS), not self._random.integers(4)
        shapes: dict[tuple[int, int], tuple[int, ...]] = {(0, 2): (x, y), (1, 1): (x, y, z), (1, 0): (x, y)}
        products, addends = self._one_of(list(shapes))
        operation = operations.fused(F32, ((F32, F32),) * products, (F32,) * addends, rounding, flush=flush)
        self.floats.append(self._apply(operation, *shapes[products, addends]))

    def _function(self) -> None:
        name, (x,) = self._one_of(FUNCTIONS), self._some(self.floats, 1)
        self.floats.append(self._apply(operations.function(name, F32, F32), x))

    def _extremum(self) -> None:
        which, nan = self._one_of(("max", "min")), bool(self._random.integers(2))
        if self._random.integers(3):
            x, y = self._some(self.floats, 2)
            self.floats.append(self._apply(operations.extremum(F32, which, nan=nan), x, y))
        else:
            x, y = self._some(self.words, 2)
            self.words.append(self._apply(operations.extremum(S32, which), x, y))

    def _negation(self) -> None:
        if self._random.integers(2):
            self.floats.append(self._apply(operations.negate(F32), *self._some(self.floats, 1)))
        else:
            self.words.append(self._apply(operations.negate(bits(32)), *self._some(self.words, 1)))

    def _conversion(self) -> None:
        rounding = self._one_of(ROUNDINGS)
        match int(self._random.integers(5)):
            case 0:
                (x,) = self._some(self.floats, 1)
                self.halves.append(self._apply(operations.fused(F16, (), (F32,), rounding), x))
            case 1:
                (x,) = self._some(self.halves, 1)
                self.floats.append(self._apply(operations.fused(F32, (), (F16,)), x))
            case 2:
                (x,) = self._some(self.floats, 1)
                self.words.append(self._apply(operations.convert(S32, F32, rounding), x))
            case 3:
                (x,) = self._some(self.words, 1)
                self.floats.append(self._apply(operations.convert(F32, S32, rounding), x))
            case _:
                fmt = self._one_of((E4M3, BF16))
                (x,) = self._some(self._narrow[fmt].tolist(), 1)
                self.floats.append(self._apply(operations.fused(F32, (), (fmt,)), x))

    def _choice(self) -> None:
        terms = self.floats if self._random.integers(2) else self.words
        (condition,), (then, otherwise) = self._some(self.truths, 1), self._some(terms, 2)
        terms.append(int(chosen(self.store, np.asarray(condition), np.asarray(then), np.asarray(otherwise))))

    def _vectors(self, terms: Sequence[int], length: int = LENGTH) -> int:
        return int(self.store.vectors(self._some(terms, length)))

    def _dot(self) -> None:
        if self._random.integers(2):
            how = Accumulation("exact", LENGTH)
            left, right = (self._vectors(self._narrow[fmt].tolist()) for fmt in (S8, U8))
            made = self._apply(operations.dot(S32, S8, U8, S32, how), left, right, *self._some(self.words, 1))
            self.words.append(made)
        else:
            fmt, terms = self._one_of(((F32, self.floats), (F16, self.halves)))
            left, right = self._vectors(terms), self._vectors(terms)
            operation = operations.dot(F32, fmt, fmt, F32, Accumulation("unit", LENGTH))
            self.floats.append(self._apply(operation, left, right, *self._some(self.floats, 1)))

    def _scaled_dot(self) -> None:
        left, right = (self._vectors(self._narrow[E4M3].tolist()) for _ in range(2))
        scales = [self._vectors(self._narrow[UE8M0].tolist(), LENGTH // 2) for _ in range(2)]
        rest = int(self.store.vectors([*self._some(self.floats, 1), *scales]))
        operation = operations.scaled_dot(F32, E4M3, E4M3, F32, UE8M0, Accumulation("scaled", LENGTH))
        self.floats.append(self._apply(operation, left, right, rest))

    def _quotient(self) -> None:
        if self._random.integers(2):
            self.floats.append(
                self._apply(operations.function("div", F32, F32, F32), *self._some(self.floats, 2))
            )
        else:
            divisor = int(self.store.constants(int(np.float32(3).view(np.uint32)), 32))
            (x,) = self._some(self.floats, 1)
            self.floats.append(self._apply(operations.quotient("div", F32), x, divisor))

    def _ring(self) -> None:
        products = int(self._random.integers(2))
        given = self._some(self.words, 2 + products)
        self.words.append(self._apply(operations.ring(32, products, 2 - products), *given))

    def _logic(self) -> None:
        table, terms = int(self._random.integers(256)), np.array(self._some(self.words, 3), dtype=np.int32)
        self.words.append(int(bit_slices.bitwise(self.store, table, *terms[:, None])[0]))

    def _slice(self) -> None:
        low, width = int(self._random.integers(24)), int(self._random.integers(1, 9))
        terms = np.array(
            self._some(self.words if self._random.integers(2) else self.floats, 1), dtype=np.int32
        )
        cut = bit_slices.extract(self.store, terms, low, width)
        extend = bit_slices.sign_extend if self._random.integers(2) else bit_slices.zero_extend
        self.words.append(int(extend(self.store, cut, 32)[0]))

    def _comparison(self) -> None:
        fmt, terms = self._one_of(((F32, self.floats), (S32, self.words)))
        relation = self._one_of(RELATIONS if fmt == F32 else RELATIONS[:3])
        self.truths.append(self._compared(fmt, relation, *self._some(terms, 2)))

    def _moved(self) -> None:
        """Take the words of floats for integers, or narrow integers for wide ones."""
        if self._random.integers(2):
            self.words += self._some(self.floats, 1)
        else:
            narrow = np.array(self._some(self._narrow[S8].tolist(), 1), dtype=np.int32)
            self.words.append(int(bit_slices.sign_extend(self.store, narrow, 32)[0]))


def inputs_of(random: np.random.Generator, *, ordinary: bool = True) -> dict[str, NDArray[np.uint64]]:
    """Return encodings of all inputs: small numbers, or any bits that are finite numbers."""
    found = {}
    for name, fmt in INPUTS.items():
        if isinstance(fmt, FloatFormat) and ordinary and fmt.bits > 8:
            values = (random.choice([-1, 1], ELEMENTS) * random.uniform(0.5, 2, ELEMENTS)).astype(np.float32)
            words = values.view(np.uint32).astype(np.uint64)
            if fmt == F16:
                words = values.astype(np.float16).view(np.uint16).astype(np.uint64)
            elif fmt == BF16:
                words >>= np.uint64(16)
            found[name] = words
        elif isinstance(fmt, IntegerFormat) and ordinary and fmt.bits > 8:
            found[name] = random.integers(-64, 64, ELEMENTS).astype(np.uint64) & np.uint64(0xFFFFFFFF)
        else:
            words = random.integers(0, 1 << fmt.bits, ELEMENTS).astype(np.uint64)
            if isinstance(fmt, FloatFormat):
                exact = [fmt.exact(int(word)) is not None for word in words]
                words = np.where(exact, words, np.uint64(1))
            found[name] = words
    return found
