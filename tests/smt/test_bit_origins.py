"""The algebra of moved bits agrees with numpy on everything that only moves bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.smt.bit_origins import BitOrigins
from mmaproof.spec.algebra import Algebra
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import F32, S4, U8, U16, U32, Format, IntegerFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra

U3 = IntegerFormat("u3", 3, signed=False)


def executed(program: Any, seed: int, *formats: tuple[tuple[int, ...], Format]) -> tuple[Any, Any]:
    """Run a program with numpy on random inputs, and on origins whose bits are then looked up in them."""
    generator = np.random.default_rng(seed)
    data = [generator.integers(0, 1 << fmt.bits, shape).astype(fmt.storage) for shape, fmt in formats]
    symbolic = BitOrigins()
    named: Any = [symbolic.variable(shape, fmt) for shape, fmt in formats]
    bits = [
        value >> i & 1
        for array, (_, fmt) in zip(data, formats, strict=True)
        for value in array.ravel().tolist()
        for i in range(fmt.bits)
    ]
    origins = program(symbolic, *named)["origins"]
    found = np.array([0, 1, *bits])[origins + 2]
    weights = 1 << np.arange(found.shape[-1], dtype=np.uint64)
    return program(NumpyAlgebra(), *data), (found.astype(np.uint64) * weights).sum(axis=-1)


PROGRAMS = {
    "extract": (lambda alg, x: alg.extract(x, 5, U3), ((4, 2), U32)),
    "assemble": (lambda alg, x: alg.assemble(x, U3, (1, 4, 20), U32), ((5, 3), U3)),
    "unpack": (lambda alg, x: alg.unpack(x, U16), ((3, 8), U8)),
    "unpack nibbles": (lambda alg, x: alg.unpack(x, S4), ((3, 8), U8)),
    "pack": (lambda alg, x: alg.pack(x, F32), ((3, 2), F32)),
    "pack nibbles": (lambda alg, x: alg.pack(x, S4), ((3, 4), S4)),
    "constant": (
        lambda alg, x: np.concatenate([x, alg.constant(0xA5, U8)[np.newaxis]]),
        ((3,), U8),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@given(st.integers(0, 2**32))
def test_bits_come_from_where_numpy_takes_them(name: str, seed: int) -> None:
    program, *inputs = PROGRAMS[name]
    concrete, found = executed(program, seed, *inputs)
    assert concrete.shape == found.shape
    assert (concrete == found).all()


def test_equality_is_for_all_inputs() -> None:
    alg = BitOrigins()
    x, y = alg.variable((4,), U8), alg.variable((4,), U8)
    assert alg.same(x, x).all()
    assert not alg.same(x, y).any()
    assert not alg.same(x, x[::-1]).any()
    assert not alg.same(x, alg.constant(7, U8)).any()
    assert alg.same(alg.constant(7, U8), alg.constant(7, U8))
    assert not alg.same(alg.constant(7, U8), alg.constant(6, U8))


def test_what_computes_is_refused() -> None:
    alg: Algebra = BitOrigins()
    x = alg.constant(1, U8)
    with pytest.raises(UnsupportedError, match="no operation 'integer'"):
        alg.integer(x, IntegerFormat("u8", 8, signed=False))
