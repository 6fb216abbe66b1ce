"""Layouts of views that movers take, and which of them are modelled.

Source: PTO IR manual (make_tensor_view); pto-isa headers at 3186c381 (TLoad, TStore); ptoas, see
`spec.pto.view_layouts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ....spec.pto.element_types import ElementType
from ....spec.pto.global_memory import ViewOrder, written_layout
from ....spec.pto.targets import Profile
from ....spec.pto.text.statements import TensorView
from ....spec.pto.text.syntax import Attributes
from ....spec.pto.tile import Tile
from ....spec.pto.view_declarations import KnownNames, inferred_orders
from ....spec.pto.view_layouts import FRACTAL_ROWS, Orders, contradiction
from ..text.errors import illegal, unsupported
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


def view_orders(
    statement: TensorView,
    shape: Sequence[int],
    strides: Sequence[int],
    element: ElementType,
    known: KnownNames,
) -> Orders:
    """Return the layout that a view is declared to have, or else those that ptoas may infer.

    Raises
    ------
    EndedError
        If it is declared to have one that is not modelled, or that its extents and strides contradict.
    """
    if (order := written_order(statement.attributes)) is not None:
        if (why := contradiction(order, shape, strides, element)) is not None:
            raise illegal(f"layout {order} of {statement.name}: {why}")
        return (order,)
    numbers = dict(zip((*statement.shape, *statement.strides), (*shape, *strides), strict=True))
    constants = {name: numbers[name] for name in known.constants}
    return inferred_orders(
        statement, element, constants, constants | {name: numbers[name] for name in known.derived}
    )


def written_order(attributes: Attributes) -> ViewOrder | None:
    """Return the layout that attributes name; None where they name none.

    Raises
    ------
    EndedError
        If it is not modelled.
    """
    written = written_layout(attributes)
    if written is None:
        return None
    order = _SCALES.get(written, written)
    if order not in ViewOrder.__members__:
        raise unsupported(f"a view of layout {written}")
    return ViewOrder[order]


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
            f"a view of layout {view.order} whose elements along a line are {stride} apart; the "
            "movers of the NPU take 1"
        )
    if view.order is ViewOrder.NZ:
        _require_whole_fractals(view)
    line_like = 1 in (tile.rows, tile.columns) and not tile.boxed
    if tile.layout_name not in _TARGETS[view.order] and not line_like and tile.fractal != SCALES:
        raise unsupported(f"a move between a view of layout {view.order} and a tile of {tile.layout_name}")


def _require_whole_fractals(view: View) -> None:
    """See that the fractals of a view lie one behind the other along its rows: movers copy them in bursts."""
    shape, strides = view.matrix.shape, view.matrix.strides
    width = shape[4]
    if (shape[3] > 1 and strides[3] != width) or (shape[2] > 1 and strides[2] != FRACTAL_ROWS * width):
        raise unsupported(
            f"a view of layout {view.order} with strides {list(view.strides)}, whose fractals are not "
            "contiguous"
        )
