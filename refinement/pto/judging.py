"""The spec's rules on instructions, applied to what their operands are when they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...spec.pto.catalogue import INDICES, ROLE_LOCATIONS
from ...spec.pto.legality import address_violations, judge, tile_violations
from ...spec.pto.resolution import Resolved, tile_of_type
from ...spec.pto.targets import Profile
from ...spec.pto.text.statements import InstructionStatement
from ...spec.pto.text.syntax import TypedValue
from ...spec.pto.text.types import OtherType, Spelling, TileType
from ...spec.pto.tile import Location, Tile
from ..findings import Kind
from .execution import Execution
from .tile_buffers import TileBuffer
from .values import View


@dataclass(frozen=True)
class Operands:
    """What an instruction's operands are.

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
    """Applies rules, each to the same operands once.

    Attributes
    ----------
    profile : Profile
        Whose rules.
    """

    profile: Profile
    _judged: set[object] = field(default_factory=set)

    def apply(self, execution: Execution, statement: InstructionStatement, operands: Operands) -> None:
        """Report every rule that an instruction violates."""
        actual = {role: in_role(role, tile.actual) for role, tile in operands.tiles.items()}
        view = operands.given_view
        seen = None if view is None else (view.shape, view.order)
        key = (id(statement), tuple(actual.items()), seen, operands.indices)
        if key in self._judged:
            return
        self._judged.add(key)
        self._check_types(execution, statement, operands)
        numbered = _with_numbers(statement, operands)
        for violation in judge(Resolved(numbered, self.profile, actual)).violations:
            execution.report(
                Kind.ILLEGAL, f"{statement.operation}: {violation}", execution.line, what=violation.rule.id
            )

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
    outputs = [with_number(operation.output, each) for each in statement.outputs]
    attributes = statement.attributes
    if view is not None:
        others = (each for each in attributes if each[0] != "layout")
        attributes = (*others, ("layout", view.order.value))
    return replace(
        statement,
        inputs=(*inputs, *statement.inputs[len(inputs) :]),
        outputs=tuple(outputs),
        attributes=attributes,
    )
