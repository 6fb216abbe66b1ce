"""What the instructions compute, as mathematics: their semantics, run on names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..algebra import Array
from ..formula import Formula, bits, element
from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted, tabulated
from ..formula_text import written
from .architectures import ARCHITECTURES, Architecture
from .choices import OPEN_POINTS, SEQUENTIAL, Choices
from .machine_code import machine_code
from .matrix_move_forms import ROW_BYTES
from .matrix_moves import MatrixMove, load, matrix_move, row_addresses, store, transpose
from .product import Matrices, product
from .resolution import Multiplication, multiplication
from .targets import target_named
from .variant import MATRIX_MOVES, MULTIPLYING, WARP_LANES, WARPGROUP_ORDER, Family, Variant
from .wmma import memory_operand


def semantics(variant: Variant) -> Iterator[str]:
    """Yield what a legal variant does, a line at a time."""
    if variant.family in MULTIPLYING:
        yield from _product(multiplication(variant))
    elif variant.family in MATRIX_MOVES:
        yield from _move(matrix_move(variant))
    elif variant.family in WARPGROUP_ORDER:
        yield _ORDERS[variant.family]
    else:
        yield from _wmma_move(variant)


_ORDERS = {
    Family.WGMMA_FENCE: "accesses to registers before it are ordered before those of products behind it",
    Family.WGMMA_COMMIT: "products that are in no group make a group, which completes after those before it",
    Family.WGMMA_WAIT: "waits until at most N of the latest groups are pending",
}


# -- products
def _product(form: Multiplication) -> Iterator[str]:
    yield product_formula(form, Choices(), rounds=form.is_double) + (
        "" if form.is_integer or form.is_double else " over the reals"
    )
    m, n, _ = form.shape
    batch = f"; q = 0..{form.batch[0] - 1}: independent products" if form.batch else ""
    yield f"i = 0..{m - 1}, j = 0..{n - 1}{batch}"
    if form.sparsity is not None:
        chunk = f"chunk c, {form.sparsity.chunk} columns"
        yield f"A: its stored half; E[i,c]: the metadata nibble of row i and {chunk}"
    if form.block_scale is not None:
        scale = form.block_scale
        yield f"SA, SB: scale factors, {scale.format}, one for each {scale.chunk} elements of K"
    if not form.is_integer:
        yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
    if form.is_of_warpgroup:
        yield from _of_warpgroup(form)
        return
    if form.variant.family is Family.WMMA_MMA:
        yield "which thread holds which element is unspecified"
        return
    yield "in registers, as encodings:"
    for role in "abcd":
        yield _fragment(form, role)


def _of_warpgroup(form: Multiplication) -> Iterator[str]:
    yield "C: the D before, 0 where scale-d is false; A and B are negated where scale-a and scale-b are -1"
    yield "in registers, or A and B where descriptors say, as encodings; trans-a and trans-b: where, not what"
    for role in "ad":
        yield f"{role}[i] of a thread: {form.fragment(role).layout.formula}"


def product_formula(form: Multiplication, choices: Choices, *, rounds: bool = True) -> str:
    """Return the formula of an element of D.

    Parameters
    ----------
    form : Multiplication
        The instruction.
    choices : Choices
        Readings of what PTX leaves open.
    rounds : bool
        Whether roundings are written; else the formula is meant over the reals.

    Raises
    ------
    InputError
        If the choice of accumulation is an architecture that has no matrix unit for the instruction.
    """
    place = ("q",) if form.batch else ()
    scale, sparsity, k = form.block_scale, form.sparsity, form.shape.k
    operands = Matrices(
        named("A", *place, "i", form.products),
        named("B", *place, k, "j"),
        named("C", *place, "i", "j"),
        None if scale is None else named("SA", "i", scale.vector),
        None if scale is None else named("SB", scale.vector, "j"),
        None if sparsity is None else named("E", "i", sparsity.chunks),
    )
    d = product(FormulaAlgebra(rounds=rounds), form, operands, choices)
    return f"D[{','.join((*place, 'i', 'j'))}] = {written(contracted(d.item()))}"


def roundings(variant: Variant) -> Iterator[str]:
    """Yield how the open accumulation of floats is read: by default, and by each architecture's model."""
    if variant.family not in MULTIPLYING:
        return
    form = multiplication(variant)
    if form.is_integer or form.is_double:
        return
    default = product_formula(form, Choices(accumulation=SEQUENTIAL))
    same: dict[str, list[str]] = {default: [f"{SEQUENTIAL}, the default"]}
    for architecture in filter(form.is_executable_on, ARCHITECTURES):
        text = product_formula(form, Choices(accumulation=architecture.name))
        same.setdefault(f"{text}{_machine_code(form, architecture)}", []).append(architecture.name)
    for text, names in same.items():
        yield f"{', '.join(names)}: {text}"


def _machine_code(form: Multiplication, architecture: Architecture) -> str:
    code = machine_code(form, target_named(architecture.target))
    return "" if code is None or code.is_native(form) else f" ({code.described(form)})"


def _fragment(form: Multiplication, role: str) -> str:
    fragment = form.fragment(role)
    registers = fragment.scatter(FormulaAlgebra(), named(role.upper(), *fragment.shape))
    return _registers(role, registers)


# -- moves
def _registers(name: str, registers: Array) -> str:
    """Write registers (32, r) as a function of the lane and the register."""
    count = registers.shape[-1]
    which = f"r = 0..{count - 1}" if count > 1 else "r = 0"
    return f"{name}[r] of a lane = {_entry(registers, ('lane', 'r'))}, {which}"


def _entry(table: Array, letters: Sequence[str]) -> str:
    return written(tabulated(table, letters))


def _move(move: MatrixMove) -> Iterator[str]:
    alg = FormulaAlgebra()
    if move.family is Family.MOVMATRIX:
        yield _registers("d", transpose(alg, move, named("a", WARP_LANES, 1)))
        yield "a[n,0]: the register of lane n"
        return
    addresses = row_addresses(move, named("p", WARP_LANES))
    if move.family is Family.LDMATRIX:
        yield _registers("d", load(alg, move, _memory(addresses)))
    else:
        stored = store(alg, move, named("r", WARP_LANES, move.registers))
        at = _entry(addresses, ("m", "i"))
        yield (
            f"bits(M[{at}], 8·b, 8) ← {_entry(stored, ('m', 'i', 'b'))}, "
            f"b = 0..{ROW_BYTES - 1}, i = 0..{move.rows - 1}, m = 0..{move.count - 1}"
        )
        yield "r[n,m]: register m of lane n"
    yield f"M[p[n]]: the {ROW_BYTES} bytes at the address of lane n = 0..{move.addresses - 1}, little-endian"


def _memory(addresses: Array) -> Array:
    """Return the bytes (…, 16) of the memory rows at some addresses."""
    byte = np.frompyfunc(lambda address, number: bits(element("M", address), 8 * number, 8), 2, 1)
    rows: Array = byte(addresses[..., None], np.arange(ROW_BYTES, dtype=object))
    return rows


def _wmma_move(variant: Variant) -> Iterator[str]:
    memory = memory_operand(variant)
    rows, columns = memory.extents
    place = memory.element(Formula("i"), Formula("j"), Formula("stride"))
    arrow = "→" if variant.family is Family.WMMA_STORE else "←"
    yield f"fragment[i,j] {arrow} {written(element('M', place))}, i = 0..{rows - 1}, j = 0..{columns - 1}"
    yield f"M[n]: element n, {memory.format}, from the pointer"
    yield (
        f"stride >= {memory.minimum_stride} elements (the default); pointer and stride multiples of "
        f"{memory.fragment_bytes} bytes"
    )
    yield "which thread holds which element is unspecified"
