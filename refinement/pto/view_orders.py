"""Views of global memory that movers take: their order, and what of them is modelled.

Source: PTO IR manual (make_tensor_view); pto-isa headers at 3186c381 (TLoad, TStore); ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ...spec.pto.global_memory import ViewOrder, written_layout
from ...spec.pto.targets import Profile
from ...spec.pto.text.syntax import Attributes
from ...spec.pto.tile import Tile
from .errors import unsupported
from .values import View

SCALES = 32
"""Bytes of a fractal of scale factors."""

_SCALES = MappingProxyType({"MX_A_ND": "ND", "MX_A_DN": "DN", "MX_B_ND": "ND", "MX_B_DN": "DN"})
"""Layouts of views of scale factors, which movers take element by element too."""

_TARGETS = MappingProxyType(
    {
        ViewOrder.ND: ("ND", "Nz"),
        ViewOrder.DN: ("DN", "Zn"),
        ViewOrder.NZ: ("Nz",),
    }
)
"""The orders of tiles that the NPU's movers take to and from views of each order."""


def view_order(shape: Sequence[int], strides: Sequence[int], attributes: Attributes) -> ViewOrder:
    """Return the order that a view is declared to have, or else the one that its strides say.

    Raises
    ------
    EndedError
        If it is declared to be one that is not modelled.
    """
    if (written := written_layout(attributes)) is not None:
        order = _SCALES.get(written, written)
        if order not in ViewOrder.__members__:
            raise unsupported(f"a view of layout {written}")
        return ViewOrder[order]
    if len(shape) >= 2 and strides[-1] != 1 and strides[-2] == 1 and shape[-1] > 1:
        return ViewOrder.DN
    return ViewOrder.ND


def require_modelled(profile: Profile, view: View, tile: Tile) -> None:
    """See that a mover of the profile goes between a view and a tile element by element.

    Raises
    ------
    EndedError
        If the NPU's movers take the view otherwise than its strides say, or are not known to re-order so.
    """
    if not profile.cube:
        return
    rows, columns = view.matrix.extents
    line = {ViewOrder.ND: (-1, columns), ViewOrder.DN: (-2, rows), ViewOrder.NZ: (-1, columns)}[view.order]
    axis, extent = line
    stride = view.strides[axis] if len(view.strides) >= -axis else 1
    if stride != 1 and extent > 1:
        raise unsupported(
            f"a view of layout {view.order} whose neighbours in a line are {stride} elements apart: the "
            "movers of the NPU take 1"
        )
    line_like = 1 in (tile.rows, tile.columns) and not tile.boxed
    if tile.layout_name not in _TARGETS[view.order] and not line_like and tile.fractal != SCALES:
        raise unsupported(f"a move between a view of layout {view.order} and a tile of {tile.layout_name}")
