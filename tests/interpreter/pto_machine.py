"""An interpreter of PTO programs on numbers: the scalar unit, movers, products, and cores.

It shares the reader of texts with the verifier, and the specification's numpy run of matrix instructions;
nothing of `mmaproof.refinement`. What it has no meaning for raises `BrokenError`.
"""

from __future__ import annotations

import re
from collections import ChainMap, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.formats import BF16, F16, F32, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto import cube
from mmaproof.spec.pto.catalogue import OperationKind
from mmaproof.spec.pto.choices import choices_of
from mmaproof.spec.pto.global_memory import written_layout
from mmaproof.spec.pto.resolution import tile_of_type
from mmaproof.spec.pto.sizes import sizes
from mmaproof.spec.pto.targets import A5, Profile, alias
from mmaproof.spec.pto.text.module import Conditional, Function, Loop, Module, Other
from mmaproof.spec.pto.text.statements import (
    Allocation,
    Arithmetic,
    Barrier,
    ConstantDefinition,
    Handshake,
    InstructionStatement,
    PartitionView,
    TensorView,
    Terminator,
)
from mmaproof.spec.pto.text.syntax import Region, Statement
from mmaproof.spec.pto.text.type_reader import read_type
from mmaproof.spec.pto.text.types import OtherType, TileType
from mmaproof.spec.pto.tile import DYNAMIC, Location, Order

from .pto_numbers import decoded, encoded
from .pto_pipes import Core, Issued, Program, buffer_of, move_pipe, run
from .pto_tiles import STORAGE, BrokenError, Buffer, View, Words, put, words_of
from .pto_vectors import vector

FLOATS = {"f16": F16, "bf16": BF16, "f32": F32}

Names = ChainMap[str, Any]

_OPERATIONS = {
    "TLOAD": "MTE2", "TSTORE_ACC": "FIX", "TSTORE_VEC": "MTE3", "TMOV_M2L": "MTE1", "TMOV_M2B": "MTE1",
    "TMATMUL": "M", "TVEC": "V", "TMOV_M2V": "V", "TMOV_M2S": "FIX", "TMOV_V2M": "FIX",
}  # fmt: skip

_SECTIONS = {"pto.section.cube": "cube", "pto.section.vector": "vector"}

_SILENT = (
    "pto.aic_initialize_pipe", "pto.aiv_initialize_pipe", "pto.import_reserved_buffer", "pto.reserve_buffer",
    "pto.tfree_from_aic", "pto.tfree_from_aiv",
)  # fmt: skip


@dataclass
class Machine:
    """All that the cores of a block share.

    Attributes
    ----------
    profile : Profile
        Who runs the program.
    functions : mapping of str to Function
        Of its module.
    memory : dict of str to array
        The bytes of each array, which are changed.
    explicit : bool
        Whether only flags and barriers order the pipes.
    filling : int
        The byte that on-chip memory holds before anybody writes.
    """

    profile: Profile
    functions: Mapping[str, Function]
    memory: dict[str, NDArray[np.uint8]]
    explicit: bool
    filling: int
    channels: dict[tuple[str, str], deque[Words]] = field(default_factory=dict)

    def run(
        self,
        entries: Sequence[tuple[str, Function]],
        arguments: Callable[[int], Sequence[Any]],
        blocks: int,
        random: Random | None = None,
    ) -> None:
        """Run every block: each function of `entries` on a core of the kind that stands beside it."""
        for block in range(blocks):
            self.channels.clear()
            units = [_Unit(self, Core(kind), block, blocks) for kind, _ in entries]
            for unit, (_, entry) in zip(units, entries, strict=True):
                unit.core.program = unit.start(entry, arguments(block))
            run([unit.core for unit in units], random)


class _Unit:
    """The scalar unit of one core."""

    def __init__(self, machine: Machine, core: Core, block: int, blocks: int) -> None:
        self.machine, self.core, self.block, self.blocks = machine, core, block, blocks
        self.profile = machine.profile
        self._memories: dict[Location, list[NDArray[np.uint8]]] = {}
        self.returned: list[Any] = []

    def start(self, function: Function, arguments: Sequence[Any]) -> Program:
        """Run a function."""
        assert function.body is not None
        given = dict(zip((str(parameter.name) for parameter in function.parameters), arguments, strict=True))
        yield from self.region(function.body, ChainMap(given))

    def region(self, region: Region, names: Names) -> Program:
        """Run statements; what they pass on is `returned`."""
        self.returned = []
        for statement in region:
            if isinstance(statement, Terminator):
                self.returned = [self.value(operand.name, names) for operand in statement.operands]
                return
            yield from self.step(statement, names)
            yield None
        self.returned = []

    # -- values
    def value(self, name: str, names: Names) -> Any:
        """Return what a name stands for."""
        if name in names:
            return names[name]
        if name.removesuffix("#0") in names:
            return names[name.removesuffix("#0")]
        return int(name)

    def numbers(self, given: Sequence[str], names: Names) -> tuple[int, ...]:
        """Return integers."""
        return tuple(int(self.value(each, names)) for each in given)

    def define(self, results: Sequence[str], values: Sequence[Any], names: Names) -> None:
        """Name values."""
        listed: list[str] = []
        for result in results:
            name, _, count = result.partition(":")
            listed += [f"{name}#{i}" for i in range(int(count))] if count else [result]
        for name, value in zip(listed, values, strict=True):
            names[name] = value

    # -- statements
    def step(self, statement: Statement, names: Names) -> Program:  # noqa: PLR0912 - one case for each kind
        """Run a statement."""
        match statement:
            case ConstantDefinition(name=name):
                names[name] = _constant(statement)
            case Arithmetic(results=results, operands=operands):
                given = [self.value(operand, names) for operand in operands]
                self.define(results, [_arithmetic(statement, given)], names)
            case Loop():
                yield from self._loop(statement, names)
            case Conditional(condition=condition, body=body, otherwise=otherwise, results=results):
                chosen = body if self.value(condition, names) & 1 else otherwise
                self.returned = []
                if chosen is not None:
                    yield from self.region(chosen, names.new_child())
                self.define(results, self.returned, names)
            case Allocation():
                self._allocate(statement, names)
            case TensorView():
                self._view(statement, names)
            case PartitionView(name=name, source=source, offsets=offsets, sizes=extents):
                view = self.value(source, names)
                names[name] = view.part(self.numbers(offsets, names), self.numbers(extents, names))
            case Handshake(name=kind):
                flag = (_pipe(statement.source), _pipe(statement.target), statement.event)
                yield from self._flag(flag, sets=kind in ("set_flag", "record_event"))
            case Barrier(pipe=pipe):
                if pipe in ("PIPE_ALL", "ALL") and self.machine.explicit:
                    yield self.core.idle
            case InstructionStatement():
                self._instruction(statement, names)
            case Other():
                yield from self._other(statement, names)
            case _:
                raise BrokenError(f"no meaning for {type(statement).__name__}")

    def _flag(self, flag: tuple[str, str, str], *, sets: bool) -> Iterator[Callable[[], bool] | None]:
        if not self.machine.explicit:
            return
        source, target, _ = flag
        issued = Issued(sets=flag) if sets else Issued(waits=flag)
        self.core.issue(source if sets else target, issued)
        if not sets and target == "S":
            yield lambda: not self.core.queues["S"]

    def _loop(self, loop: Loop, names: Names) -> Program:
        lower, upper, step = self.numbers((loop.lower, loop.upper, loop.step), names)
        carried = [self.value(start, names) for _, start in loop.carried]
        for index in range(lower, upper, step):
            inner = names.new_child({loop.variable: index})
            for (name, _), value in zip(loop.carried, carried, strict=True):
                inner[name] = value
            yield from self.region(loop.body, inner)
            carried = self.returned
        self.define(loop.results, carried, names)

    def _allocate(self, statement: Allocation, names: Names) -> None:
        assert isinstance(statement.type, TileType)
        tile = tile_of_type(statement.type, self.profile)
        if tile is None:
            raise BrokenError("no tile")
        valid = []
        for given, static, extent in (
            (statement.valid_rows, tile.valid_rows, tile.rows),
            (statement.valid_columns, tile.valid_columns, tile.columns),
        ):
            size = static if isinstance(static, int) else extent
            valid.append(size if given is None else int(self.value(given, names)))
        address = 0 if statement.address is None else int(self.value(statement.address, names))
        size = address + tile.rows * tile.columns * tile.element.storage_bytes
        memory = self._memories.setdefault(buffer_of(tile), [_filled(0, self.machine.filling)])
        if statement.address is None:
            memory = [_filled(0, self.machine.filling)]
        if len(memory[0]) < size:
            memory[0] = np.concatenate([memory[0], _filled(size - len(memory[0]), self.machine.filling)])
        names[statement.name] = Buffer(tile, memory, address, (valid[0], valid[1]))

    def _view(self, statement: TensorView, names: Names) -> None:
        pointer = self.value(statement.pointer, names)
        type_ = statement.type
        element = (type_.element if isinstance(type_, OtherType) else None) or pointer.element
        shape, strides = (self.numbers(each, names) for each in (statement.shape, statement.strides))
        written = written_layout(statement.attributes)
        names[statement.name] = View(pointer, element, shape, strides, written)

    def issue(self, pipe: str, action: Callable[[], None], ready: Callable[[], bool] | None = None) -> None:
        """Hand an operation to a pipe."""
        self.core.issue(pipe if self.machine.explicit else "S", Issued(action, ready=ready))

    # -- instructions
    def _instruction(self, statement: InstructionStatement, names: Names) -> None:
        operation, written = statement.operation, statement.operands()
        found = {role: self.value(written[role].name, names) for role in operation.tiles}
        tiles = {role: each.snapshot() for role, each in found.items() if isinstance(each, Buffer)}
        indices = [int(self.value(written[r].name, names)) if r in written else 0 for r in ("row", "column")]
        if operation.kind is not OperationKind.MOVE:
            self.issue("M", lambda: self._multiply(statement, tiles))
        elif operation.name == "tload":
            self.issue("MTE2", lambda: self._load(found["source"], tiles["target"]))
        elif operation.name == "tstore":
            attributes = {name.lower(): value.lower() for name, value in statement.attributes}
            pipe = "FIX" if tiles["source"].tile.location is Location.ACC else "MTE3"
            self.issue(pipe, lambda: self._store(tiles["source"], found["target"], attributes))
        else:
            pipe = move_pipe(tiles["source"].tile.location, buffer_of(tiles["target"].tile))
            self.issue(pipe, lambda: self._move(operation.name, tiles["source"], tiles["target"], indices))

    def _multiply(self, statement: InstructionStatement, tiles: dict[str, Buffer]) -> None:
        operation = statement.operation
        types = {
            role: replace(
                each.tile, location=Location.SCALE_LEFT if role == "scale_a" else Location.SCALE_RIGHT
            )
            if role.startswith("scale")
            else each.tile
            for role, each in tiles.items()
        }
        types = {
            role: replace(tile, valid_rows=tiles[role].valid[0], valid_columns=tiles[role].valid[1])
            for role, tile in types.items()
        }
        size = sizes(operation, self.profile, {role: tiles[role].valid for role in ("a", "b")})
        buffers = {role: each.whole().astype(STORAGE[each.size]) for role, each in tiles.items()}
        found = cube.multiply(
            NumpyAlgebra(), operation, self.profile, types, buffers, size, choices_of(self.profile)
        )
        tiles["d"].overwrite(found.astype(np.uint64))

    def _load(self, view: View, target: Buffer) -> None:
        rows, columns = target.valid
        words = words_of(self._array(view), view.offsets(target.tile, rows, columns), target.size)
        if not self.profile.cube:
            target.overwrite(np.zeros_like(target.whole()))
        row, column = np.indices((rows, columns))
        target.write(self.profile, row, column, words)
        tile = target.tile
        if self.profile.cube and tile.inner is not Order.NONE_BOX:
            unit = 2 if tile.fractal == 32 else 32 // target.size
            if tile.inner is Order.ROW_MAJOR:
                row, column = np.indices((rows, -columns % unit))
                target.write(self.profile, row, column + columns, np.zeros(row.shape, dtype=np.uint64))
            else:
                row, column = np.indices((-rows % unit, columns))
                target.write(self.profile, row + rows, column, np.zeros(row.shape, dtype=np.uint64))

    def _store(self, source: Buffer, view: View, attributes: Mapping[str, str]) -> None:
        rows, columns = source.valid
        words = source.read(self.profile, *np.indices((rows, columns)))
        fmt, target = source.tile.element.format, view.element.format
        assert fmt is not None and target is not None
        if "normal_relu" in attributes.get("relupremode", ""):
            words = encoded(np.maximum(decoded(words, fmt), 0), fmt)
        if fmt != target:
            words = encoded(decoded(words, fmt), target)
        offsets = view.offsets(source.tile, rows, columns)
        memory = self._array(view)
        if "atomic_add" in attributes.get("atomictype", ""):
            before = decoded(words_of(memory, offsets, view.element.storage_bytes), target)
            words = encoded(before + decoded(words, target), target)
        put(memory, offsets, words, view.element.storage_bytes)

    def _move(self, name: str, source: Buffer, target: Buffer, indices: Sequence[int]) -> None:
        rows, columns = source.valid if name == "tinsert" else target.valid
        row, column = np.indices((rows, columns))
        there = (row + indices[0], column + indices[1])
        open_rows = source.tile.location is Location.ACC and source.tile.valid_rows is DYNAMIC
        compact = self.profile == A5 and name == "tmov" and open_rows
        words = source.read(self.profile, *((row, column) if name == "tinsert" else there), compact=compact)
        before, after = source.tile.element.format, target.tile.element.format
        assert before is not None and after is not None
        if before != after:
            words = encoded(decoded(words, before), after)
        target.write(self.profile, *(there if name == "tinsert" else (row, column)), words)

    def _array(self, view: View) -> NDArray[np.uint8]:
        return self.machine.memory[view.pointer.array]

    # -- statements that the reader keeps as text
    def _other(self, statement: Other, names: Names) -> Program:  # noqa: PLR0912 - one case for each kind
        name, text = (
            statement.name.strip('"'),
            " ".join(each for each in statement.pieces if isinstance(each, str)),
        )
        if name in _SECTIONS:
            if self.core.name in ("", _SECTIONS[name]):
                for piece in statement.pieces:
                    if isinstance(piece, Region):
                        yield from self.region(piece, names.new_child())
        elif name in ("func.call", "call"):
            yield from self._call(statement, text, names)
        elif name in ("pto.get_block_idx", "pto.get_block_num"):
            number = self.block if name.endswith("idx") else self.blocks
            self.define(statement.results, [number], names)
        elif name == "pto.set_validshape":
            tile, rows, columns = re.findall(r"%[\w#]+", text.partition(" : ")[0])
            held = self.value(tile, names)
            held.valid = self.numbers((rows, columns), names)
        elif name in ("pto.tpush_to_aiv", "pto.tpush_to_aic"):
            self._push(name, text, names)
        elif name in ("pto.tpop_from_aic", "pto.tpop_from_aiv"):
            self._pop(statement, name, text, names)
        elif name in _SILENT:
            self.define(statement.results, [0 for _ in statement.results], names)
        elif name == "pto.load_scalar":
            yield from self._load_scalar(statement, text, names)
        elif name == "memref.alloc":
            self._memref(statement, text, names)
        else:
            pipe, action = vector(
                self.profile, name.removeprefix("pto."), text, lambda n: self.value(n, names)
            )
            self.issue(pipe, action)

    def _call(self, statement: Other, text: str, names: Names) -> Program:
        called, given = re.findall(r"@([\w.$-]+)\s*\(([^)]*)\)", text)[0]
        function = self.machine.functions[called]
        kind = kind_of(function)
        if kind is not None and self.core.name not in ("", kind):
            return
        values = [self.value(each.strip(), names) for each in given.split(",") if each.strip()]
        yield from self.start(function, values)
        self.define(statement.results, self.returned, names)

    def _load_scalar(self, statement: Other, text: str, names: Names) -> Program:
        pointer_name, index = re.findall(r"%[\w#]+|-?\d+", text.partition(" : ")[0])[:2]
        pointer, at = self.value(pointer_name, names), int(self.value(index, names))
        size = pointer.element.storage_bytes
        found: list[Words] = []

        def read() -> None:
            memory = self.machine.memory[pointer.array]
            found.append(words_of(memory, np.array([pointer.offset + at * size]), size))

        self.issue("S", read)
        yield lambda: bool(found)
        fmt = pointer.element.format
        number = decoded(found[0], fmt)[0]
        value = float(number) if isinstance(fmt, FloatFormat) else int(number)
        self.define(statement.results, [value], names)

    def _memref(self, statement: Other, text: str, names: Names) -> None:
        written = read_type(text.partition(" : ")[2])
        assert isinstance(written, OtherType) and written.element is not None
        space = re.findall(r"address_space<?\s*(\w+)", written.text)[0]
        rows, columns = (int(extent) for extent in written.extents if isinstance(extent, int))
        tile = alias(self.profile, Location(space), written.element, (rows, columns))
        size = rows * columns * tile.element.storage_bytes
        names[statement.results[0]] = Buffer(tile, [_filled(size, self.machine.filling)], 0, (rows, columns))

    def _push(self, name: str, text: str, names: Names) -> None:
        tile = self.value(re.findall(r"%[\w#]+", text)[0], names).snapshot()
        to = "vector" if name.endswith("aiv") else "cube"
        queue = self.machine.channels.setdefault((to, _channel(text)), deque())

        def push() -> None:
            words = tile.read(self.profile, *np.indices(tile.valid))
            queue.append(decoded(words, tile.tile.element.format))

        self.issue("FIX" if to == "vector" else "MTE3", push)

    def _pop(self, statement: Other, name: str, text: str, names: Names) -> None:
        written = read_type(text.partition("->")[2].strip())
        assert isinstance(written, TileType)
        tile = tile_of_type(written, self.profile)
        assert tile is not None and isinstance(tile.valid_rows, int) and isinstance(tile.valid_columns, int)
        size = tile.rows * tile.columns * tile.element.storage_bytes
        buffer = Buffer(tile, [_filled(size, self.machine.filling)], 0, (tile.valid_rows, tile.valid_columns))
        to = "vector" if name.endswith("aic") else "cube"
        queue = self.machine.channels.setdefault((to, _channel(text)), deque())
        fmt = tile.element.format
        assert fmt is not None

        def pop() -> None:
            buffer.write(self.profile, *np.indices(buffer.valid), encoded(queue.popleft(), fmt))

        self.issue("MTE2", pop, lambda: bool(queue))
        names[statement.results[0]] = buffer


def kind_of(function: Function) -> str | None:
    """Return the core that a function is for."""
    for name, value in function.attributes:
        if name == "pto.kernel_kind":
            return re.findall(r"kernel_kind\W+(\w+)", value)[0]
    return None


def functions_in(module: Module) -> dict[str, Function]:
    """Return the functions of a module by name."""
    return {node.name: node for node in module.walk() if isinstance(node, Function) and node.body is not None}


def _filled(size: int, filling: int) -> NDArray[np.uint8]:
    return np.full(size, filling, dtype=np.uint8)


def _channel(text: str) -> str:
    return next(iter(re.findall(r"\bid\s*=\s*(\d+)", text)), "0")


def _pipe(name: str) -> str:
    return _OPERATIONS.get(name, name.removeprefix("PIPE_"))


def _constant(statement: ConstantDefinition) -> Any:
    if statement.integer is not None:
        return statement.integer
    fmt = FLOATS[str(statement.type)]
    if statement.text.startswith("0x"):
        return decoded(np.array([int(statement.text, 16)], dtype=np.uint64), fmt)[0]
    return float(statement.text)


def _arithmetic(statement: Arithmetic, given: Sequence[Any]) -> Any:
    name = statement.name.removeprefix("arith.")
    if name == "select":
        return given[1] if given[0] & 1 else given[2]
    if name == "cmpi":
        relation = str(statement.predicate)
        left, right = (each & (2**64 - 1) if relation[0] == "u" else each for each in given)
        order = (left > right) - (left < right)
        wanted = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1)}
        return int(order in wanted[relation if relation in wanted else relation[1:]])
    if name in ("index_cast", "extsi", "extui", "trunci", "index_castui"):
        return given[0]
    a, b = given
    if name in ("divsi", "remsi"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if name == "divsi" else a - b * quotient
    simple: dict[str, Callable[[Any, Any], Any]] = {
        "addi": lambda: a + b, "subi": lambda: a - b, "muli": lambda: a * b, "minsi": lambda: min(a, b),
        "maxsi": lambda: max(a, b), "ceildivsi": lambda: -(-a // b), "andi": lambda: a & b,
    }  # type: ignore[dict-item] # fmt: skip
    if name not in simple:
        raise BrokenError(f"no meaning for {statement.name}")
    return simple[name]()  # type: ignore[call-arg]
