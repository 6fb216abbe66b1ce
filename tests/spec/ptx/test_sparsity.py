"""Sparse A: where metadata is, what it means, selection and expansion, against tables written out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx import warp
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.catalogue import forms
from mmaproof.spec.ptx.choices import Choices, choices_named
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.operand_tables import operand_table
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.sparse_mma_forms import SPARSE_FORMS
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.variant import Family, Shape
from mmaproof.spec.ptx.warp import Immediates, WarpRegisters

ALG = NumpyAlgebra()

PLACES = {
    ("m16n8k8", 32, 2): (4, lambda r, c, f: (4 * (r % 8) + f, 16 * (r // 8) + 4 * c)),
    ("m16n8k16", 16, 4): (4, lambda r, c, f: (4 * (r % 8) + f, 16 * (r // 8) + 4 * c)),
    ("m16n8k16", 32, 2): (2, lambda r, c, f: (4 * (r % 8) + 2 * f + c // 4, 16 * (r // 8) + 4 * (c % 4))),
    ("m16n8k32", 16, 4): (2, lambda r, c, f: (4 * (r % 8) + 2 * f + c // 4, 16 * (r // 8) + 4 * (c % 4))),
    ("m16n8k32", 8, 4): (2, lambda r, c, f: (4 * (r % 8) + 2 * f + r // 8, 4 * c)),
    ("m16n8k64", 4, 8): (2, lambda r, c, f: (4 * (r % 8) + 2 * f + r // 8, 4 * c)),
    ("m16n8k64", 8, 4): (1, lambda r, c, f: (4 * (r % 8) + 2 * (c // 8) + r // 8, 4 * (c % 8))),
    ("m16n8k128", 4, 8): (1, lambda r, c, f: (4 * (r % 8) + 2 * (c // 8) + r // 8, 4 * (c % 8))),
}
"""Shape, container, chunk: the selectors, and lane and lowest bit of a row, chunk and selector (C.5)."""

ORDERED = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)

UNDEFINED_IN_PLAIN = (0b0000, 0b0101, 0b1010, 0b1111)


def sparsity(shape: str, container: int, chunk: int, ordered: bool = True) -> Sparsity:
    """Return a row of the table."""
    return Sparsity(Shape.parse(shape), container, chunk, ordered)


TABLE = {f"{key[0]}-{key[1]}": sparsity(*key) for key in PLACES}

names = pytest.mark.parametrize("name", TABLE)


def place(name: str, row: int, chunk: int, selector: int) -> tuple[int, int]:
    """Return lane and lowest bit by the table."""
    shape, container = name.rsplit("-", 1)
    (_, formula) = next(row for key, row in PLACES.items() if key[:2] == (shape, int(container)))
    return formula(row, chunk, selector)


def test_the_catalogue_has_the_rows_of_the_table() -> None:
    instructions = [multiplication(v) for form in forms(Family.MMA_SP) for v in form.variants()]
    found = {(str(i.shape), i.container, i.sparsity.chunk) for i in instructions if i.sparsity}
    assert found == set(PLACES)
    for instruction in instructions:
        assert instruction.sparsity is not None
        key = (str(instruction.shape), instruction.container, instruction.sparsity.chunk)
        assert instruction.sparsity.selectors == instruction.form.selectors == PLACES[key][0]


@names
def test_every_nibble_is_where_the_table_has_it(name: str) -> None:
    sparse = TABLE[name]
    for selector in range(sparse.selectors):
        for row in range(16):
            for chunk in range(sparse.chunks):
                lane, nibble = sparse.slot(row, chunk, selector)
                assert (lane, 4 * nibble) == place(name, row, chunk, selector)
                assert sparse.layout.forward(lane, nibble) == (selector, row, chunk)


def metadata(sparse: Sparsity, seed: int) -> np.ndarray:
    """Return legal nibbles of one warp."""
    return np.random.default_rng(seed).choice(
        np.array(sparse.legal_nibbles, dtype=np.uint8), (sparse.shape.m, sparse.chunks)
    )


@names
@given(data=st.data())
def test_metadata_that_is_written_is_read(name: str, data: st.DataObject) -> None:
    sparse = TABLE[name]
    selector = data.draw(st.integers(0, sparse.selectors - 1))
    nibbles = metadata(sparse, data.draw(st.integers(0, 1000)))
    held = sparse.held(selector)
    registers = held.scatter(ALG, nibbles)
    expected = [0] * 32
    for (row, chunk), nibble in np.ndenumerate(nibbles):
        lane, low = place(name, row, chunk, selector)
        expected[lane] |= int(nibble) << low
    assert registers[:, 0].tolist() == expected
    assert np.array_equal(held.gather(ALG, registers), nibbles)


@names
@given(data=st.data())
def test_registers_that_are_read_under_every_selector_are_written_back(
    name: str, data: st.DataObject
) -> None:
    sparse = TABLE[name]
    words = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32))
    registers = np.array(words, dtype=np.uint32)[:, None]
    back = np.zeros_like(registers)
    for selector in range(sparse.selectors):
        held = sparse.held(selector)
        back |= held.scatter(ALG, held.gather(ALG, registers))
    assert np.array_equal(back, registers)


@names
def test_selectors_past_the_last_are_refused(name: str) -> None:
    sparse = TABLE[name]
    for selector in (-1, sparse.selectors):
        with pytest.raises(InputError, match=f"sparsity selector {selector}"):
            sparse.held(selector)


def test_legal_nibbles() -> None:
    for shape, container, chunk in PLACES:
        for ordered in (True, False):
            sparse = sparsity(shape, container, chunk, ordered)
            plain = tuple(nibble for nibble in range(16) if nibble not in UNDEFINED_IN_PLAIN)
            expected = (0b0100, 0b1110) if chunk == 2 else ORDERED if ordered else plain
            assert sparse.legal_nibbles == expected
            assert np.flatnonzero(sparse.allows(ALG, np.arange(16, dtype=np.uint8))).tolist() == list(
                expected
            )


def test_undefined_metadata_is_refused_with_its_place() -> None:
    nibbles = np.full((2, 16, 4), 0b0100, dtype=np.uint8)
    sparse = sparsity("m16n8k16", 16, 4)
    sparse.require_valid(nibbles)
    nibbles[1, 9, 2] = 0b0001
    with pytest.raises(InputError, match=r"metadata 0001 of row 9, chunk 2 .* 0100, 1000, 1001, 1100"):
        sparse.require_valid(nibbles)
    sparsity("m16n8k16", 16, 4, ordered=False).require_valid(nibbles)


def logical_column(sparse: Sparsity, s: int, nibble: int) -> int:
    """Return the column by the table of C.5."""
    first, second = nibble & 3, nibble >> 2
    if sparse.chunk == 2:
        return 2 * s + (1 if nibble == 0b1110 else 0)
    if sparse.chunk == 4:
        return 4 * (s // 2) + (first if s % 2 == 0 else second)
    return 8 * (s // 4) + 2 * (first if (s % 4) // 2 == 0 else second) + s % 2


@names
@given(seed=st.integers(0, 1000), ordered=st.booleans())
def test_selection_and_expansion_follow_the_columns(name: str, seed: int, ordered: bool) -> None:
    row = TABLE[name]
    sparse = Sparsity(row.shape, row.container, row.chunk, ordered)
    rng, nibbles = np.random.default_rng(seed), metadata(sparse, seed)
    stored = rng.integers(1, 256, (16, sparse.shape.k // 2), dtype=np.uint8)
    b = rng.integers(0, 256, (sparse.shape.k, 8), dtype=np.uint8)
    met = sparse.select(ALG, b, nibbles)
    expanded = np.zeros((16, sparse.shape.k), dtype=np.uint8)
    for m in range(16):
        for s in range(sparse.shape.k // 2):
            nibble = int(nibbles[m, s // sparse.kept])
            column = logical_column(sparse, s, nibble)
            assert sparse.column(s, nibble) == column
            assert np.array_equal(met[m, s], b[column])
            expanded[m, column] = stored[m, s]
    assert np.array_equal(sparse.expand(ALG, stored, nibbles, np.uint8(0)), expanded)
    assert np.count_nonzero(expanded) == stored.size


HALF_K = {("m16n8k16", 16), ("m16n8k8", 32), ("m16n8k32", 8), ("m16n8k64", 4)}


def test_metadata_that_no_source_confirms_are_an_open_point() -> None:
    found = {
        (str(form.shape), form.container)
        for form in SPARSE_FORMS
        if Sparsity(form.shape, form.container, form.chunk, form.ordered_metadata).is_of_half_k
    }
    assert found == HALF_K


@pytest.mark.parametrize("half", [True, False])
def test_registers_whose_metadata_are_not_known_are_refused(half: bool) -> None:
    variant = parse(f"mma.sp.sync.aligned.m16n8k{16 if half else 32}.row.col.f32.f16.f16.f32").variant
    form = multiplication(variant)
    assert form.sparsity is not None
    legal = np.full((32, 1), 0x44444444, dtype=np.uint32)
    registers = {role: np.zeros((32, form.fragment(role).registers), np.uint32) for role in "abc"}
    unknown = choices_named(["half-k-metadata=unspecified"])
    executed = partial(multiply, form, registers | {"metadata": legal}, selected=Immediates(sparsity=0))
    held = WarpRegisters(**registers, metadata=legal)
    on_terms = partial(warp.execute, NumpyAlgebra(), form, held, Immediates(sparsity=0))
    assert not executed(choices=Choices())["d"].any()
    if half:
        for run in (executed, on_terms):
            with pytest.raises(InputError, match="half-k-metadata=unspecified"):
                run(choices=unknown)
    else:
        assert not executed(choices=unknown)["d"].any()
    matrices = {f"{role}_bits": np.zeros(form.matrix_shape(role), np.uint32) for role in "c"}
    matrices |= {f"{role}_bits": np.zeros(form.matrix_shape(role), np.uint16) for role in "ab"}
    matrices["metadata_bits"] = np.full((16, form.sparsity.chunks), 4, np.uint8)
    assert not multiply(form, matrices, unknown)["d_bits"].any()
    assert ("half-k-metadata" in operand_table(variant, "metadata").title) == half
