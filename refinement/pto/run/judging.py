"""The specification's rules on instructions, applied to operands at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ....spec.legality import Violation
from ....spec.pto.catalogue import INDICES, ROLE_LOCATIONS
from ....spec.pto.global_memory import ViewOrder
from ....spec.pto.legality import address_violations, judge, tile_violations
from ....spec.pto.resolution import Resolved, tile_of_type
from ....spec.pto.targets import Profile
from ....spec.pto.text.statements import InstructionStatement
from ....spec.pto.text.syntax import TypedValue
from ....spec.pto.text.types import OtherType, Spelling, TileType
from ....spec.pto.tile import Location, Tile
from ....spec.pto.view_layouts import Orders
from ...findings.finding import Kind
from ..text.errors import unsupported
from ..tiles.tile_buffers import TileBuffer
from ..tiles.values import View
from ..tiles.view_orders import written_order
from .execution import Execution


@dataclass(frozen=True)
class Operands:
    """The operands of an instruction at run time.

    Attributes
    ----------
    tiles : mapping of str to TileBuffer
        By role.
    given_view : View, optional
        Of global memory.
    indices : (int, int)
        Where a block begins in a tile.
    """

    tiles: Mapping[str, TileBuffer]
    given_view: View | None = None
    indices: tuple[int, int] = (0, 0)

    @property
    def view(self) -> View:
        """The view of global memory, of an instruction that has one."""
        assert self.given_view is not None
        return self.given_view


@dataclass
class Judge:
    """Applies rules, memoised by operands.

    Attributes
    ----------
    profile : Profile
        Whose rules.
    """

    profile: Profile
    _judged: set[object] = field(default_factory=set)
    _settled: dict[object, ViewOrder] = field(default_factory=dict)

    def apply(self, execution: Execution, statement: InstructionStatement, operands: Operands) -> Operands:
        """Report every rule that an instruction violates, and return its operands, its view of one layout.

        Raises
        ------
        EndedError
            If more than one layout is legal that ptoas may give the view, and they name other elements.
        """
        settled = self._with_one_layout(execution, statement, operands)
        self._apply(execution, statement, settled)
        return settled

    def _apply(self, execution: Execution, statement: InstructionStatement, operands: Operands) -> None:
        actual = {role: in_role(role, tile.actual) for role, tile in operands.tiles.items()}
        view = operands.given_view
        seen = None if view is None else (view.shape, view.order)
        key = (id(statement), tuple(actual.items()), seen, operands.indices)
        if key in self._judged:
            return
        self._judged.add(key)
        self._check_types(execution, statement, operands)
        for violation in self._violations(statement, operands):
            execution.report(
                Kind.ILLEGAL, f"{statement.operation}: {violation}", execution.line, what=violation.rule.id
            )

    def _violations(self, statement: InstructionStatement, operands: Operands) -> tuple[Violation, ...]:
        actual = {role: in_role(role, tile.actual) for role, tile in operands.tiles.items()}
        return judge(Resolved(_with_numbers(statement, operands), self.profile, actual)).violations

    def _with_one_layout(
        self, execution: Execution, statement: InstructionStatement, operands: Operands
    ) -> Operands:
        """Choose, of the layouts that ptoas may give a view, the one that the tile can be moved to or from.

        With any other the headers do not compile. Of two that name the same elements, either will do.
        """
        view = operands.given_view
        if view is None:
            return operands
        written = written_order(statement.attributes)
        if written is not None and written not in view.orders:
            raise unsupported(
                f"{statement.operation} of layout {written}; the view is {_listed(view.orders)}"
            )
        if written is not None or len(view.orders) == 1:
            return _ordered(operands, written or view.order)
        (tile,) = operands.tiles.values()
        key = (id(statement), tile.actual, view.shape, view.strides, view.orders)
        if key not in self._settled:
            options = [_ordered(operands, order) for order in view.orders]
            wrong = [len(self._violations(statement, option)) for option in options]
            best = [option for option, count in zip(options, wrong, strict=True) if count == min(wrong)]
            if not min(wrong) and not _alike([option.view for option in best], tile):
                raise unsupported(
                    f"releases of ptoas take a view of {view} with strides {list(view.strides)} for "
                    f"{_listed(view.orders)}: give it a layout"
                )
            self._settled[key] = best[0].view.order
        order = self._settled[key]
        if ViewOrder.NZ in view.orders:
            execution.assumptions[
                f"{order} is taken of the layouts that releases of ptoas give a view of "
                f"{'x'.join(map(str, view.shape))} ({_listed(view.orders)})"
            ] = None
        return _ordered(operands, order)

    def _check_types(self, execution: Execution, statement: InstructionStatement, operands: Operands) -> None:
        """Report operands whose type is not that of their definition."""
        written = statement.operands()
        for role, tile in operands.tiles.items():
            type_ = written[role].type
            if not isinstance(type_, TileType) or type_.spelling is Spelling.OPAQUE:
                continue
            found = tile_of_type(type_, self.profile)
            if found is not None and found != tile.tile:
                execution.report(
                    Kind.ILLEGAL,
                    f"{statement.operation}: {tile.name} is {type_} here, but {tile.tile.location} "
                    f"{tile.tile.rows}x{tile.tile.columns}x{tile.tile.element} with other properties where "
                    f"it is defined, in line {tile.line}",
                    execution.line,
                    what=f"type of {role}",
                )

    def allocated(self, execution: Execution, tile: TileBuffer, *, placed: bool) -> None:
        """Report every rule that a tile violates, by itself and where it is placed."""
        actual = tile.actual
        key = (execution.line, actual, tile.address if placed else None)
        if key in self._judged:
            return
        self._judged.add(key)
        wrong = tile_violations(tile.name, actual, self.profile)
        if placed:
            wrong += address_violations(tile.tile, tile.address, self.profile)
        for violation in wrong:
            execution.report(Kind.ILLEGAL, f"alloc_tile: {violation}", execution.line, what=violation.rule.id)


def _ordered(operands: Operands, order: ViewOrder) -> Operands:
    return replace(operands, given_view=replace(operands.view, orders=(order,)))


def _listed(orders: Orders) -> str:
    return " or ".join(orders)


def _alike(views: Sequence[View], tile: TileBuffer) -> bool:
    """Tell whether views name the same elements, as far as a tile takes them."""
    indices = np.indices(tuple(tile.valid))
    first, *others = (np.asarray(view.matrix.offset(*indices)) for view in views)
    return all(np.array_equal(first, other) for other in others)


def in_role(role: str, tile: Tile) -> Tile:
    """Return the type of an operand by role: scale factors have one keyword for three buffers."""
    if tile.location is Location.SCALING and role in ("scale_a", "scale_b"):
        return replace(tile, location=ROLE_LOCATIONS[role])
    return tile


def _with_numbers(statement: InstructionStatement, operands: Operands) -> InstructionStatement:
    """Return a statement with the numbers that its indices are, and the extents and order of its view."""
    view = operands.given_view
    roles = dict(zip(INDICES, operands.indices, strict=True))
    operation = statement.operation

    def with_number(role: str, operand: TypedValue) -> TypedValue:
        if role in roles:
            return replace(operand, name=str(roles[role]), type=None)
        if role == operation.view and view is not None:
            shape = "x".join(map(str, view.shape))
            type_ = OtherType(f"!pto.partition_tensor_view<{shape}x{view.element}>", view.element, view.shape)
            return replace(operand, type=type_)
        return operand

    inputs = [with_number(role, each) for role, each in zip(operation.inputs, statement.inputs, strict=False)]
    outputs = [with_number(operation.output, output) for output in statement.outputs]
    attributes = statement.attributes
    if view is not None:
        others = (attribute for attribute in attributes if attribute[0] != "layout")
        attributes = (*others, ("layout", view.order.value))
    return replace(
        statement,
        inputs=(*inputs, *statement.inputs[len(inputs) :]),
        outputs=tuple(outputs),
        attributes=attributes,
    )
