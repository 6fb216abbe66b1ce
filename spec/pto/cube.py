"""What executes a product on buffers: the matrix unit of the NPU, or the CPU simulator.

Each takes the operands from where `placement` says. Source: pto-isa headers at 3186c381.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..algebra import Algebra, Array
from ..errors import UnsupportedError
from .buffers import read, require_whole_units, write
from .catalogue import Operation
from .choices import IN_PLACE, Choices
from .placement import operand_placement
from .products import formats_of, product
from .sizes import Sizes, executed_rows, operand_extents, rounded_up
from .targets import Profile
from .tile import Tile, c0


def accumulator_role(choices: Choices) -> str:
    """Return the operand whose buffer an accumulating form reads: ``d`` where it accumulates in place."""
    return "d" if choices.accumulator_read == IN_PLACE else "c"


def multiply(
    alg: Algebra,
    operation: Operation,
    profile: Profile,
    tiles: Mapping[str, Tile],
    buffers: Mapping[str, Array],
    sizes: Sizes,
    choices: Choices,
) -> Array:
    """Return the buffer of the result (…, elements) after a product.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    operation, profile : Operation, Profile
        The product, and what executes it.
    tiles : mapping of str to Tile
        The operands' types by role, ``d`` included.
    buffers : mapping of str to array (…, elements)
        Encodings in the order of the buffers, by role: of the operands read, and of ``d`` before.
    sizes : Sizes
        m, k and n, see `sizes.sizes`.
    choices : Choices
        Readings of what the documents leave open.

    Raises
    ------
    InputError
        If an operand leaves its buffer.
    UnsupportedError
        For elements whose encoding, or order in a buffer, no public document gives.
    """
    formats = formats_of(tiles)
    matrices = operand_matrices(operation, profile, tiles, buffers, sizes, choices)
    result = product(alg, operation, **matrices, formats=formats, choices=choices)
    return write(
        "d", buffers["d"], operand_placement(operation, profile, "d", tiles["d"], sizes, choices), result
    )


def operand_matrices(
    operation: Operation,
    profile: Profile,
    tiles: Mapping[str, Tile],
    buffers: Mapping[str, Array],
    sizes: Sizes,
    choices: Choices,
) -> dict[str, Array]:
    """Return the matrices that a product takes from buffers, by role; see `multiply`.

    Of buffers that hold the numbers of their elements, these are the elements that it reads.
    """
    for role, tile in tiles.items():
        require_whole_units(role, tile)
    m, k, n = executed_rows(operation, profile, sizes.m), sizes.k, sizes.n
    if choices.k_tail == "granules":
        k = rounded_up(k, c0(tiles["a"].element))
    _require_simulated_bias(operation, profile, tiles["d"], m, n)
    extents = operand_extents(m, k, n)
    held = {role: role for role in operation.inputs}
    if operation.accumulates:
        held["c"] = accumulator_role(choices)
    places = {
        role: operand_placement(operation, profile, role, tiles[role], sizes, choices)
        for role in operation.inputs
    }
    return {role: read(role, buffers[source], places[role], *extents[role]) for role, source in held.items()}


def _require_simulated_bias(operation: Operation, profile: Profile, d: Tile, m: int, n: int) -> None:
    """Refuse a bias beyond C's valid region, where versions of the simulator differ."""
    if profile.cube or not operation.biased:
        return
    for extent, size in ((d.valid_rows, m), (d.valid_columns, n)):
        if isinstance(extent, int) and extent < size:
            raise UnsupportedError(
                f"{operation} of {m}x{n} into a valid region of {d.valid_rows}x{d.valid_columns}: versions "
                "of the CPU simulator disagree on whether the bias is added outside of it"
            )
