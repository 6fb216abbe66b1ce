"""``tcgen05.mma`` on named arrays, as `mmaproof run` executes it.

Matrix view: ``a`` (…, M, K) (sparse: the stored half), ``b`` (…, K, N), ``c`` (…, M, N), the D before,
``scale_a`` (…, M, X), ``scale_b`` (…, X, N) and ``metadata`` (…, M, chunks). M and N are those of both CTAs.
Register view: what tensor memory holds as uint32 (…, lanes, columns) from the operand's address on, 128 lanes
for each CTA: ``c``, ``scale_a``, ``scale_b``, ``metadata``, and ``a`` where it is there; what descriptors
name in ``memory``, uint8 (…, bytes), of two CTAs (…, 2, bytes). What is held in copies must be the same in
all. Where a mask of lanes is written, it is ``disable_output_lane``, uint32 (4,).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ... import operand_arrays
from ...algebra import Algebra, Array
from ...errors import InputError, UnsupportedError
from ...formats import U32
from ...fragment import Fragment
from ...operand_arrays import ALGEBRA, Arrays, ByteArray, Observer, Words, read, required
from ..choices import Choices
from ..matrix_descriptor import MatrixDescriptor
from ..operand_arrays import operands, require_concrete, require_defined
from .multiplication import TensorMultiplication
from .product import Modifiers, kept_elements, matrices_of, tensor_product
from .shared_operands import gathered

MASK = "disable_output_lane"


@dataclass(frozen=True)
class WrittenProduct:
    """A product with what its text says of operands.

    Attributes
    ----------
    form : TensorMultiplication
        The instruction, with its descriptor.
    modifiers : Modifiers
        What is summed, but for the mask of lanes.
    descriptors : mapping of str to MatrixDescriptor
        Those that are numbers, of ``a`` and ``b``.
    masked : bool
        Whether a mask of lanes is written.
    """

    form: TensorMultiplication
    modifiers: Modifiers
    descriptors: Mapping[str, MatrixDescriptor] = field(default_factory=dict)
    masked: bool = False


def execute(
    written: WrittenProduct,
    arrays: Arrays,
    choices: Choices,
    *,
    as_registers: bool,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute a product; returns ``d`` and, in the matrix view, ``d_bits``.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, copies differ, or memory ends
        before an operand.
    UnsupportedError
        If no source says where an operand is.
    """
    form = written.form
    require_concrete(form, choices)
    known, results = operands(form)
    needed = {name: each for name, each in known.items() if name != "c" or _reads_d(written)}
    modifiers, given = written.modifiers, arrays
    if written.masked:
        given = dict(arrays)
        modifiers = _masked(form, modifiers, given)

    def compute(alg: Algebra, found: Mapping[str, Array]) -> dict[str, Array]:
        return {"d": tensor_product(alg, form, matrices_of(alg, form, found), choices, modifiers)}

    result = operand_arrays.execute(
        form.name,
        needed,
        results,
        compute,
        _matrices(written, given) if as_registers else given,
        as_registers=False,
        work=prod(form.matrix_shape("d")) * form.products,
        unread=known,
        check=partial(require_defined, form, choices),
        observer=observer,
    )
    return {"d": _scattered(form, result["d_bits"])} if as_registers else result


def _reads_d(written: WrittenProduct) -> bool:
    return bool(written.modifiers.enable_d) or written.masked


def _masked(form: TensorMultiplication, modifiers: Modifiers, given: dict[str, Array]) -> Modifiers:
    """Take the mask of lanes out of the arrays."""
    if form.product_form.ctas > 1:
        raise UnsupportedError("disable-output-lane of two CTAs: no source says which CTA's lanes come first")
    mask = required(given, MASK, f"{form.name} takes (…, 4) uint32")
    if mask.dtype != np.uint32 or mask.shape != (4,):
        raise InputError(f"{MASK} has dtype {mask.dtype} and shape {mask.shape}; it must be uint32, (4,)")
    del given[MASK]
    return Modifiers(modifiers.enable_d, modifiers.scale_d, modifiers.zero_columns, kept_elements(form, mask))


def held(form: TensorMultiplication, role: str) -> tuple[Fragment, tuple[int | slice, ...]]:
    """Return how tensor memory holds an operand, and which leading coordinates the instruction takes.

    A slice is of copies, which must be alike.

    Raises
    ------
    UnsupportedError
        If no source says where it is.
    """
    layouts, fields, copies = form.layouts, form.fields, slice(None)
    lower = (0,) if layouts.is_of_half_lanes else ()
    if role.startswith("scale_"):
        vector = fields.number(f"{role}_id") // form.product_form.vector
        return layouts.factors(role[-1]), (copies, vector)
    if role == "metadata":
        selector = (fields.number("selector"),) if form.container >= 16 else ()
        return layouts.metadata, (copies, *selector)
    if role == "a":
        return layouts.a, (copies,) if layouts.name == "B" else lower
    return layouts.d, lower


def _gathered(form: TensorMultiplication, role: str, cells: Array) -> Array:
    """Read an operand from its cells; of scale factors of B those of the columns that there are."""
    fragment, leading = held(form, role)
    own = len(fragment.shape) - len(leading)
    taken: tuple[Any, ...] = (..., *leading, *(slice(None),) * own)
    found: Array = fragment.gather(ALGEBRA, cells)[taken]
    if leading and isinstance(leading[0], slice):
        copies = np.moveaxis(found, -own - 1, 0)
        different = np.argwhere(copies != copies[0])
        if different.size:
            copy, *place = map(int, different[0])
            raise InputError(f"copy {copy} of {role} in tensor memory is another one at {tuple(place)}")
        found = copies[0]
    if role == "scale_b":
        return found[..., : form.shape.n, :].swapaxes(-1, -2)
    return found


def _matrices(written: WrittenProduct, arrays: Arrays) -> dict[str, Array]:
    """Read cells of tensor memory and bytes of shared memory as the encodings of matrices."""
    form = written.form
    in_cells = [role for role in ("a", "scale_a", "scale_b", "metadata", "c") if _is_in_cells(written, role)]
    words = {role: Words(held(form, role)[0].words, U32.storage) for role in in_cells}
    given = read(form.name, {"memory": ByteArray(), **words}, arrays, {"c": Words((-1,), U32.storage)})
    found = {f"{role}_bits": _gathered(form, role, given[role]) for role in in_cells}
    for role in "b" if form.product_form.a_in_tensor_memory else "ab":
        if role not in written.descriptors:
            raise InputError(f"{role}-desc must be a number: it says where {role} is in memory")
        found[f"{role}_bits"] = gathered(ALGEBRA, form, role, written.descriptors[role], given["memory"])
    return found


def _is_in_cells(written: WrittenProduct, role: str) -> bool:
    form = written.form
    match role:
        case "a":
            return form.product_form.a_in_tensor_memory
        case "c":
            return _reads_d(written)
        case "metadata":
            return form.sparsity is not None
    return form.block_scale is not None


def _scattered(form: TensorMultiplication, d: Array) -> Array:
    """Write D to its cells; those that it does not fill are 0, as is the other half of a cell of f16."""
    fragment, leading = held(form, "d")
    if leading:
        d = np.stack([d, np.zeros_like(d)], axis=-3)
    return fragment.scatter(ALGEBRA, d)
