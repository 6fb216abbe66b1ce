"""The scalar unit of a core: walks through the text, and issues tile instructions to pipes."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ....spec.errors import InputError, UnsupportedError
from ....spec.pto.buffers import elements_of
from ....spec.pto.catalogue import INDICES
from ....spec.pto.element_types import ElementType
from ....spec.pto.resolution import tile_of_type
from ....spec.pto.sizes import Extents
from ....spec.pto.text.module import Conditional, Function, Loop, Module, Other
from ....spec.pto.text.statements import (
    Allocation,
    Arithmetic,
    Barrier,
    ConstantDefinition,
    Handshake,
    InstructionStatement,
    PartitionView,
    Synchronization,
    TensorView,
    Terminator,
)
from ....spec.pto.text.syntax import Region, Statement
from ....spec.pto.text.types import OtherType, TileType, Type
from ....spec.pto.tile import Tile
from ....spec.pto.view_declarations import KnownNames
from ...findings.finding import Kind
from ..pipes.synchronisation import pipe_named, waits_for_all
from ..text.cores import ANY, kind_of
from ..text.errors import EndedError, illegal, unsupported
from ..tiles.scalar_arithmetic import INDEX_BITS, Number, integer_bits, wrapped
from ..tiles.tile_buffers import TileBuffer, TileMemory, buffer_of
from ..tiles.values import Data, Pointer, Value, View
from ..tiles.view_orders import view_orders, written_order
from .execution import Execution
from .judging import Judge, Operands
from .tile_instructions import execute

MOST_CALLS = 32
"""Calls within calls."""

MOST_STATEMENTS = 5_000_000
"""That one block runs."""

LARGEST_TILE = 1 << 24
"""Bytes: no buffer has as many, by far."""

_COUNT = re.compile(r"(%[^:]+):(\d+)")
_EVENT = re.compile(r"EVENT_ID[0-7]")


class Names(ChainMap[str, Value]):
    """Bindings of names at a statement, inner regions first.

    Raises
    ------
    EndedError
        If a name that can be seen is given to something else: text in SSA form has no such thing.
    """

    def __setitem__(self, name: str, value: Value) -> None:
        if name in self:
            raise illegal(f"{name} is defined already")
        super().__setitem__(name, value)


RunOther = Callable[["ScalarUnit", Other, Names], None]


@dataclass(frozen=True)
class Launch:
    """Launch parameters that a block can query.

    Attributes
    ----------
    block, blocks : int
        Its number, and how many there are.
    core : str
        The core that runs it, where two do.
    """

    block: int
    blocks: int
    core: str = ANY


class ScalarUnit:
    """The scalar unit of a core: runs functions of a module.

    Parameters
    ----------
    execution : Execution
        What is shared with its other parts.
    judge : Judge
        Applies the rules.
    functions : mapping of str to Function
        Those of the module.
    launch : Launch
        Of the block.
    other : callable
        Runs statements that the spec keeps as text.
    known : mapping of int to KnownNames
        Of each view of the functions, which of its numbers ptoas may know.
    """

    def __init__(
        self,
        execution: Execution,
        judge: Judge,
        functions: Mapping[str, Function],
        launch: Launch,
        other: RunOther,
        known: Mapping[int, KnownNames],
    ) -> None:
        self.execution, self.judge, self.launch, self._other = execution, judge, launch, other
        self._known = known
        self.functions = functions
        self._calls = self._steps = 0
        self._on_core = launch.core == ANY

    def call(self, function: Function, arguments: Sequence[Value]) -> list[Value]:
        """Run a function, and return what it returns."""
        if function.body is None:
            raise unsupported(f"a call of {function.name}, which the file only declares")
        if len(arguments) != len(function.parameters):
            raise illegal(f"{function.name} takes {len(function.parameters)} arguments, not {len(arguments)}")
        if self._calls == MOST_CALLS:
            raise unsupported(f"more than {MOST_CALLS} calls within calls")
        self._calls += 1
        given = {str(each.name): value for each, value in zip(function.parameters, arguments, strict=True)}
        found: list[Value] | None = None
        with self.only_on(kind_of(function)) as runs:
            if runs:
                found = self.run(function.body, Names(given))
            elif function.result_types:
                raise unsupported(f"{function.name} returns what only the other core has")
        self._calls -= 1
        return found or []

    @contextmanager
    def only_on(self, core: str | None) -> Iterator[bool]:
        """Enter code that is for one core, and tell whether this core runs it."""
        before = self._on_core
        self._on_core |= core is not None
        try:
            yield core is None or self.launch.core in (ANY, core)
        finally:
            self._on_core = before

    def require_one_core(self, name: str) -> None:
        """See that an instruction on tiles is in code for one core.

        Raises
        ------
        EndedError
            If both cores would run it.
        """
        if not self._on_core:
            raise unsupported(f"{name} outside of code for one core, in a kernel of two")

    def run(self, region: Region, names: Names) -> list[Value] | None:
        """Run statements, and return what the last of them passes on; None where none does."""
        for statement in region:
            self.execution.line = statement.line
            if isinstance(statement, Terminator):
                return [self.value(operand.name, names) for operand in statement.operands]
            try:
                self._count()
                self._step(statement, names)
            except EndedError as ended:
                if not ended.line:
                    ended.line = statement.line
                raise
            except UnsupportedError as error:
                raise EndedError(Kind.UNSUPPORTED, str(error), statement.line) from None
            except InputError as error:
                raise EndedError(Kind.ILLEGAL, str(error), statement.line) from None
        return None

    def _count(self) -> None:
        self._steps += 1
        if self._steps > MOST_STATEMENTS:
            raise unsupported(f"more than {MOST_STATEMENTS} statements of one block")

    # -- values
    def value(self, name: str, names: Names) -> Value:
        """Return what a name, or a literal, stands for."""
        found = names.get(name)
        if found is not None:
            return found
        if re.fullmatch(r"-?\d{1,19}", name):
            return int(name)
        if name.endswith("#0") and (found := names.get(name[:-2])) is not None:
            return found
        raise illegal(f"{name} is not defined here")

    def number(self, name: str, names: Names, what: str) -> int:
        """Return a number that has to be known before data are."""
        found = self.scalar(name, names)
        if isinstance(found, Data):
            raise EndedError(Kind.UNSUPPORTED, f"{what} {name} depends on data", depends=found.term)
        return found

    def scalar(self, name: str, names: Names) -> Number:
        """Return a number, or data."""
        found = self.value(name, names)
        if not isinstance(found, int | Data):
            raise illegal(f"{name} is no number")
        return self.execution.scalars.known(found)

    def numbers(self, given: Iterable[str], names: Names, what: str) -> tuple[int, ...]:
        """Return numbers; see `number`."""
        return tuple(self.number(name, names, what) for name in given)

    def tile(self, name: str, names: Names) -> TileBuffer:
        """Return a tile."""
        found = self.value(name, names)
        if not isinstance(found, TileBuffer):
            raise illegal(f"{name} is no tile")
        return found

    def define(self, results: Sequence[str], values: Sequence[Value], names: Names) -> None:
        """Give values their names."""
        listed: list[str] = []
        for result in results:
            counted = _COUNT.fullmatch(result)
            listed += [f"{counted[1]}#{i}" for i in range(int(counted[2]))] if counted else [result]
        if len(listed) != len(values):
            raise illegal(f"{len(values)} results for {len(listed)} names")
        names.update(zip(listed, values, strict=True))

    # -- statements
    def _step(self, statement: Statement, names: Names) -> None:
        execution = self.execution
        match statement:
            case ConstantDefinition(name=name):
                names[name] = execution.scalars.constant(statement)
            case Arithmetic():
                self.define(statement.results, [self._computed(statement, names)], names)
            case Loop():
                self._loop(statement, names)
            case Conditional():
                self._conditional(statement, names)
            case Allocation():
                self._allocate(statement, names)
            case TensorView():
                self._view(statement, names)
            case PartitionView():
                self._partition(statement, names)
            case InstructionStatement():
                self.require_one_core(str(statement.operation))
                execute(execution, self.judge, statement, self._operands(statement, names))
            case Handshake() | Barrier() | Synchronization():
                self._synchronise(statement)
            case Module(body=body):
                self.run(body, names.new_child())
            case Other():
                self._other(self, statement, names)
            case _:
                raise unsupported(type(statement).__name__.lower())

    def _computed(self, statement: Arithmetic, names: Names) -> Value:
        """Return the result of arithmetic; a choice may be one of tiles, views or pointers."""
        if statement.name == "arith.select":
            condition, *choices = statement.operands
            values = [self.value(choice, names) for choice in choices]
            if any(not isinstance(value, int | Data) for value in values):
                return values[0 if self.number(condition, names, "the condition") & 1 else 1]
        given = [self.scalar(operand, names) for operand in statement.operands]
        return self.execution.scalars.compute(statement, given)

    def _synchronise(self, statement: Handshake | Barrier | Synchronization) -> None:
        pipes = self.execution.pipes
        match statement:
            case Handshake(name=name, event=event):
                if _EVENT.fullmatch(event) is None:
                    raise illegal(f"event {event}; a pair of pipes has EVENT_ID0 to EVENT_ID7")
                source, target = pipe_named(statement.source), pipe_named(statement.target)
                sets = name in ("set_flag", "record_event")
                done = pipes.set_flag if sets else pipes.wait_flag
                done(source, target, event, statement.line)
            case Barrier(pipe=pipe):
                if waits_for_all(pipe):
                    pipes.barrier()
                else:
                    pipes.settle(pipe_named(pipe), statement.line)
            case _:
                raise unsupported("pto.tsync")

    def _loop(self, loop: Loop, names: Names) -> None:
        lower, upper, step = (
            self.number(each, names, "the bound") for each in (loop.lower, loop.upper, loop.step)
        )
        bits = INDEX_BITS if loop.index_type is None else integer_bits(str(loop.index_type))
        if loop.unsigned:
            lower, upper, step = (each & ((1 << bits) - 1) for each in (lower, upper, step))
        if step <= 0:
            raise EndedError(Kind.UNDEFINED, f"a loop from {lower} to {upper} by {step}")
        carried = [self.value(start, names) for _, start in loop.carried]
        for index in range(lower, upper, step):
            self._count()  # a loop of nothing has its trips all the same
            inner = names.new_child()
            inner[loop.variable] = wrapped(index, bits)
            inner.update(zip((name for name, _ in loop.carried), carried, strict=True))
            passed = self.run(loop.body, inner) or []
            if len(passed) != len(carried):
                raise illegal(f"a loop carries {len(carried)} values, but passes on {len(passed)}")
            carried = passed
        self.define(loop.results, carried, names)

    def _conditional(self, statement: Conditional, names: Names) -> None:
        condition = self.number(statement.condition, names, "the condition")
        region = statement.body if condition & 1 else statement.otherwise
        found = [] if region is None else self.run(region, names.new_child()) or []
        self.define(statement.results, found, names)

    def _allocate(self, statement: Allocation, names: Names) -> None:
        tile = self.tile_type(statement.type)
        valid = []
        for given, static, extent in (
            (statement.valid_rows, tile.valid_rows, tile.rows),
            (statement.valid_columns, tile.valid_columns, tile.columns),
        ):
            size = static if isinstance(static, int) else extent
            if given is not None:
                size = self.number(given, names, "the valid extent")
            valid.append(size)
        size = elements_of(tile) * tile.element.storage_bytes // tile.element.per_unit
        if not 0 < size <= LARGEST_TILE:
            raise illegal(f"a tile of {tile.rows}x{tile.columns} {tile.element}")
        address, placed = 0, statement.address is not None
        if statement.address is not None:
            address = self.number(statement.address, names, "the address")
            if not 0 <= address <= LARGEST_TILE:
                raise illegal(f"a tile at address {address}")
            memory = self.execution.memory(buffer_of(tile), address + size)
            for location, start, end, line in self.execution.reserved:
                if location is tile.location and address < end and start < address + size:
                    message = f"{statement.name} lies in memory that line {line} reserves"
                    self.execution.report(Kind.ILLEGAL, message, statement.line, what="reserved")
        else:
            memory = TileMemory(self.execution.store, size)
        found = TileBuffer(statement.name, tile, Extents(*valid), memory, address, statement.line)
        self.judge.allocated(self.execution, found, placed=placed)
        require_inside(found)
        if not placed:
            self.execution.unplaced.append(found)
        names[statement.name] = found

    def tile_type(self, written: Type) -> Tile:
        """Return the tile that a type stands for."""
        if not isinstance(written, TileType):
            raise unsupported(f"a tile of type {written}")
        tile = tile_of_type(written, self.execution.profile)
        if tile is None:
            raise illegal(f"{written} does not say what tile it is")
        return tile

    def _view(self, statement: TensorView, names: Names) -> None:
        pointer = self.value(statement.pointer, names)
        if not isinstance(pointer, Pointer):
            raise illegal(f"{statement.pointer} is not a pointer")
        element = self._element(statement.type, pointer)
        shape, strides = (
            self.numbers(each, names, "the extent") for each in (statement.shape, statement.strides)
        )
        if len(shape) != len(strides) or not 1 <= len(shape) <= 5:
            raise illegal(f"a view of {len(shape)} extents and {len(strides)} strides")
        _require_extents(statement.type, shape)
        orders = view_orders(statement, shape, strides, element, self._known[id(statement)])
        names[statement.name] = View(pointer, element, shape, strides, orders)

    def _element(self, type_: Type, pointer: Pointer) -> ElementType:
        found = type_.element if isinstance(type_, OtherType) else None
        found = found or pointer.element
        if found is None:
            raise unsupported(f"a view of type {type_}")
        return found

    def _partition(self, statement: PartitionView, names: Names) -> None:
        view = self.value(statement.source, names)
        if not isinstance(view, View):
            raise illegal(f"{statement.source} is not a tensor view")
        offsets, sizes = (
            self.numbers(each, names, "the extent") for each in (statement.offsets, statement.sizes)
        )
        if not len(offsets) == len(sizes) == len(view.shape):
            raise illegal(f"{len(offsets)} offsets and {len(sizes)} sizes of {len(view.shape)} dimensions")
        if min(sizes) < 0:
            raise illegal(f"a partition of {sizes} elements")
        _require_extents(statement.type, sizes)
        if (order := written_order(statement.attributes)) is not None and order not in view.orders:
            raise illegal(f"layout {order} of a partition of {statement.source}, which is {view.orders[0]}")
        for axis, (first, size, extent) in enumerate(zip(offsets, sizes, view.shape, strict=True)):
            if first < 0 or first + size > extent:
                self.execution.report(
                    Kind.OUT_OF_BOUNDS,
                    f"{statement.name} has elements {first} to {first + size - 1} of dimension {axis} of "
                    f"{statement.source}, which has {extent}",
                    statement.line,
                    what=f"dimension {axis}",
                )
        names[statement.name] = view.window(offsets, sizes)

    def _operands(self, statement: InstructionStatement, names: Names) -> Operands:
        operation, written = statement.operation, statement.operands()
        tiles: dict[str, TileBuffer] = {}
        view: View | None = None
        for role in operation.tiles:
            if role not in written:
                raise illegal(f"{operation} without {role}")
            found = self.value(written[role].name, names)
            if role == operation.view:
                if not isinstance(found, View):
                    raise illegal(f"{written[role].name} is not a view of global memory")
                view = found
            elif isinstance(found, TileBuffer):
                tiles[role] = found
            else:
                raise illegal(f"{written[role].name} is no tile")
        row, column = (
            self.number(written[role].name, names, "the index") if role in written else 0 for role in INDICES
        )
        return Operands(tiles, view, (row, column))


def _require_extents(type_: Type | None, shape: Sequence[int]) -> None:
    """See that a view has the extents that its type says.

    Raises
    ------
    EndedError
        If it has not.
    """
    stated = type_.extents if isinstance(type_, OtherType) else ()
    wrong = len(stated) == len(shape) and any(
        isinstance(there, int) and there != extent for there, extent in zip(stated, shape, strict=True)
    )
    if wrong:
        raise illegal(f"a view of {'x'.join(map(str, shape))} elements whose type is {type_}")


def require_inside(tile: TileBuffer) -> None:
    """See that a valid region is in its tile.

    Raises
    ------
    EndedError
        If it is not.
    """
    rows, columns = tile.valid
    if not (0 <= rows <= tile.tile.rows and 0 <= columns <= tile.tile.columns):
        raise illegal(
            f"{tile.name} of {tile.tile.rows}x{tile.tile.columns} has {rows}x{columns} valid elements"
        )
