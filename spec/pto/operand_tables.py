"""Where each element of an operand lies in its buffer, as a table."""

from __future__ import annotations

from typing import Any

from ..element_table import ElementTable, element_table
from ..errors import InputError
from ..layout import Axis
from .buffers import require_whole_units
from .choices import LINE
from .fractal import buffer_layout, is_row_of_scales, layout_of
from .legality import tile_violations
from .resolution import resolve_known
from .targets import Profile
from .text.statements import InstructionStatement


def known_tiles(instruction: InstructionStatement, profile: Profile) -> tuple[str, ...]:
    """Return the operands whose extents and element types are known."""
    return tuple(resolve_known(instruction, profile).tiles)


def operand_table(instruction: InstructionStatement, role: str, profile: Profile) -> ElementTable:
    """Return which block of a tile's buffer holds which element.

    Blocks are counted in the order of the buffer; of a tile without blocks, its lines (rows of ND, columns of
    DN) are. The offset counts elements; byte and bit are an element's first. All count from the beginning of
    the buffer.

    Parameters
    ----------
    instruction : InstructionStatement
        With the type of the operand.
    role : str
        ``a``, ``b``, ``c``, ``d``, ``bias``, ``scale_a``, ``scale_b``; ``source`` or ``target`` of a move.
    profile : Profile
        Whose tiles.

    Raises
    ------
    InputError
        If there is no such operand, it is no tile, its extent is not known or no tile may have it.
    UnsupportedError
        For 4-bit elements, whose order no document gives unambiguously.
    """
    operation, resolved = instruction.operation, resolve_known(instruction, profile)
    if role not in resolved.tiles:
        if role not in operation.tiles:
            known = ", ".join(operation.tiles)
            raise InputError(f"{operation} has no operand {role!r} in a buffer; it has {known}")
        reason = resolved.open.get(role, "it is a view of global memory")
        raise InputError(
            f"the layout of {role} needs its extent and element type: {reason}; "
            "tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32> has them"
        )
    tile = resolved.tiles[role]
    require_whole_units(role, tile)
    if wrong := tile_violations(role, tile, profile):
        raise InputError(f"{profile} has no such tile {role}: {'; '.join(map(str, wrong))}")
    order, layout = layout_of(tile), buffer_layout(tile)
    boxed = order.box != (1, 1)
    length = order.box[0] * order.box[1] if boxed else order.pitch(tile.rows, tile.columns)
    owners = Axis("block" if boxed else "line", layout.points // length)

    def holders(owner: Any, element: Any) -> dict[str, Any]:
        offset = owner * length + element
        bit = offset * tile.element.bits
        return {owners.name: owner, "offset": offset, "byte": bit // 8, "bit": bit}

    return element_table(
        f"{role} of {operation} on {profile}, {layout.name}, in {tile.location}"
        + (f", one-row-scales={LINE}" if is_row_of_scales(tile) else ""),
        tile.element.name,
        tile.element.bits,
        layout.inverted.regrouped(source=(owners, Axis("element", length))),
        holders,
        formula=layout.formula,
    )
