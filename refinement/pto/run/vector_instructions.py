"""Instructions of the vector unit, and those that fill, transpose or expand tiles.

They compute the valid region of their destination; elements of a source outside of its valid region are
unknown. Source: pto-isa headers and pages at 3186c381.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ....spec.formats import FloatFormat, Format, IntegerFormat
from ....spec.pto.movers import pad_encoding
from ....spec.pto.placement import mover_placement
from ....spec.pto.text.module import Other
from ....spec.pto.tile import Location
from ...findings.finding import Kind
from ...terms.interning import Ids
from ..pipes.access_history import Pipe, Stamp
from ..text.errors import EndedError, illegal, unsupported
from ..text.operand_text import OperandText, operand_text
from ..tiles import element_arithmetic as arithmetic
from ..tiles.scalar_arithmetic import Number
from ..tiles.tile_buffers import Elements, TileBuffer
from ..tiles.values import Data
from .scalar_unit import Names, ScalarUnit

Handler = Callable[[ScalarUnit, Other, Names], None]

Matrix = Ids
"""Terms (rows, columns)."""

_IGNORED = frozenset({"candidates", "operandSegmentSizes", "layout"})


class VectorInstruction:
    """An instruction with resolved operands.

    Attributes
    ----------
    tiles : list of TileBuffer
        The inputs that are tiles, as they are when it is issued.
    scalars : list of (int, Number)
        The inputs that are numbers, with their places.
    target : TileBuffer
        The destination.
    scratch : list of TileBuffer
        Memory that it may use; what it leaves there is told nowhere.
    """

    def __init__(self, unit: ScalarUnit, statement: Other, names: Names, *allowed: str) -> None:
        self.unit, self.name = unit, statement.name.strip('"').removeprefix("pto.")
        self.text: OperandText = operand_text(statement)
        for key, value in self.text.attributes:
            if key not in _IGNORED and key not in allowed and not key.startswith("pto."):
                raise unsupported(f"{self.name} with {key} = {value}")
        values = [unit.value(each, names) for each in self.text.inputs]
        self.tiles = [replace(each) for each in values if isinstance(each, TileBuffer)]
        self.scalars = [(at, each) for at, each in enumerate(values) if isinstance(each, int | Data)]
        if len(self.tiles) + len(self.scalars) != len(values) or not self.text.outputs:
            raise illegal(f"{self.name} takes tiles and scalars")
        self.target = replace(unit.tile(self.text.outputs[0], names))
        self.scratch: list[TileBuffer] = []

    def needs(self, tiles: int, scalars: int = 0) -> None:
        """See that it has so many operands; a further tile is scratch memory, apart from the others."""
        if not tiles <= len(self.tiles) <= tiles + 1 or len(self.scalars) != scalars:
            raise illegal(f"{self.name} of {len(self.tiles)} tiles and {len(self.scalars)} scalars")
        self.scratch = self.tiles[tiles:]
        for scratch in self.scratch:
            for other in (*self.tiles[:tiles], self.target):
                if scratch.shares_bytes(other):
                    raise unsupported(
                        f"{self.name} with {scratch.name} for scratch memory, which overlaps {other.name}: "
                        "no document specifies what is written there"
                    )

    def spoil_scratch(self, stamp: Stamp) -> None:
        """Leave anything in scratch memory."""
        execution = self.unit.execution
        for tile in self.scratch:
            every = np.arange(tile.elements)

            def named(number: int, of: str = tile.name) -> str:
                return f"element {number} of the buffer of {of}"

            why = f"which {self.name} leaves undefined, as its scratch memory"
            terms = execution.undefined.fresh(len(every), 8 * tile.width, stamp.line, named, why)
            execution.write_tile(tile, every, terms, stamp)

    def format(self, tile: TileBuffer) -> Format:
        """Return the format of a tile's elements."""
        element = tile.tile.element
        if element.format is None or element.per_unit > 1:
            raise unsupported(f"{self.name} of {element}")
        return element.format

    def alike(self, *tiles: TileBuffer) -> Format:
        """Return the one format of some tiles."""
        formats = {self.format(tile) for tile in tiles}
        if len(formats) != 1:
            raise illegal(f"{self.name} of elements of {', '.join(sorted(map(str, formats)))}")
        return formats.pop()

    def scalar(self, number: Number, fmt: Format) -> Ids:
        """Return a number as an element."""
        if isinstance(number, Data) and isinstance(fmt, FloatFormat) is isinstance(
            number.format, FloatFormat
        ):
            if number.format.bits == fmt.bits:
                return np.int32(number.term)  # type: ignore[return-value]
            if isinstance(fmt, FloatFormat):
                store = self.unit.execution.store
                return arithmetic.converted(store, "RINT", number.format, fmt, np.array(number.term))
        if isinstance(number, int) and isinstance(fmt, IntegerFormat):
            return self.unit.execution.store.constants(number & ((1 << fmt.bits) - 1), fmt.bits)
        raise illegal(f"{self.name} of elements of {fmt} and a scalar of another type")

    def elements(self, tile: TileBuffer, rows: Elements, columns: Elements) -> Elements:
        """Return the numbers of elements (…) of a tile."""
        place = mover_placement(self.unit.execution.profile, tile.tile, tile.valid)
        numbers = np.asarray(place.offset(rows, columns), dtype=np.int64)
        if numbers.size and numbers.max() >= tile.elements:
            raise EndedError(
                Kind.OUT_OF_BOUNDS,
                f"{self.name} reaches element {int(numbers.max())} of {tile.name}, which has {tile.elements}",
            )
        return numbers

    def read(self, tile: TileBuffer, rows: Elements, columns: Elements, stamp: Stamp) -> Matrix:
        """Return elements (…) of a tile, unknown ones outside of its valid region."""
        rows, columns = np.broadcast_arrays(rows, columns)
        terms = self.unit.execution.read_tile(tile, self.elements(tile, rows, columns), stamp).copy()
        outside = (rows >= tile.valid.rows) | (columns >= tile.valid.columns)
        if outside.any():
            where = np.argwhere(outside)

            def named(number: int) -> str:
                at = tuple(where[number])
                return f"[{rows[at]}, {columns[at]}] of {tile.name}, outside of its valid region"

            width = 8 * tile.width
            terms[outside] = self.unit.execution.undefined.fresh(len(where), width, stamp.line, named)
        return terms

    def require_apart(self, *sources: TileBuffer, elementwise: bool = False) -> None:
        """See that no element is written before others that come of it are computed.

        Parameters
        ----------
        *sources : TileBuffer
            What is read.
        elementwise : bool
            Whether an element comes of that of the same row and column: it may be in the same place.

        Raises
        ------
        EndedError
            If it depends on the order of elements, which no document tells.
        """
        for source in sources:
            if self.target.shares_bytes(source) and not (elementwise and self.target.lies_as(source)):
                raise unsupported(
                    f"{self.name} into {self.target.name}, which overlaps {source.name}, that it reads: no "
                    "document specifies the order of elements"
                )

    def issue(self, compute: Callable[[Elements, Elements, Stamp], Matrix], pipe: Pipe = Pipe.V) -> None:
        """Hand it to its pipe: what it computes at rows (n, 1) and columns (1, m) goes to the destination."""
        target, execution = self.target, self.unit.execution
        rows, columns = np.indices((target.valid.rows, target.valid.columns))
        numbers = self.elements(target, rows, columns).reshape(-1)

        def run(stamp: Stamp) -> None:
            found = compute(rows, columns, stamp)
            terms = np.broadcast_to(found, rows.shape).reshape(-1).astype(np.int32)
            self.spoil_scratch(stamp)
            execution.write_tile(target, numbers, terms, stamp)

        execution.issue(pipe, self.name, run)


def _binary(name: str) -> Handler:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        given = VectorInstruction(unit, statement, names)
        given.needs(2)
        left, right = given.tiles[:2]
        fmt = given.alike(left, right, given.target)
        given.require_apart(left, right, elementwise=True)
        given.issue(
            lambda rows, columns, stamp: arithmetic.BINARY[name](
                unit.execution.store, fmt, *(given.read(each, rows, columns, stamp) for each in (left, right))
            )
        )

    return handler


def _with_scalar(name: str) -> Handler:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        given = VectorInstruction(unit, statement, names)
        given.needs(1, 1)
        source = given.tiles[0]
        fmt = given.alike(source, given.target)
        ((place, number),) = given.scalars
        other = given.scalar(number, fmt)
        given.require_apart(source, elementwise=True)

        def compute(rows: Elements, columns: Elements, stamp: Stamp) -> Matrix:
            read = given.read(source, rows, columns, stamp)
            pair = (other, read) if place == 0 else (read, other)
            return arithmetic.BINARY[name](unit.execution.store, fmt, *pair)

        given.issue(compute)

    return handler


def _unary(name: str) -> Handler:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        given = VectorInstruction(unit, statement, names)
        given.needs(1)
        source = given.tiles[0]
        fmt = given.alike(source, given.target)
        given.require_apart(source, elementwise=True)
        given.issue(
            lambda rows, columns, stamp: arithmetic.UNARY[name](
                unit.execution.store, fmt, given.read(source, rows, columns, stamp)
            )
        )

    return handler


def _convert(unit: ScalarUnit, statement: Other, names: Names) -> None:
    given = VectorInstruction(unit, statement, names, "rmode", "satmode", "saturation_mode")
    given.needs(1)
    source = given.tiles[0]
    formats = given.format(source), given.format(given.target)
    given.require_apart(source, elementwise=True)
    written = given.text.attribute("rmode") or "RINT"
    mode = written.rstrip("> ").replace("<", " ").replace(".", " ").split()[-1]
    given.issue(
        lambda rows, columns, stamp: arithmetic.converted(
            unit.execution.store, mode, *formats, given.read(source, rows, columns, stamp)
        )
    )


def _expanded(name: str | None, *, across: bool) -> Handler:
    """Return an instruction that repeats the first column (`across`), or row, of its last source."""

    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        given = VectorInstruction(unit, statement, names)
        given.needs(1 if name is None else 2)
        *full, line = given.tiles[: 1 if name is None else 2]
        fmt = given.alike(*full, line, given.target)
        given.require_apart(*full, elementwise=True)
        given.require_apart(line)

        def compute(rows: Elements, columns: Elements, stamp: Stamp) -> Matrix:
            zero = np.zeros_like(rows)
            at = (rows, zero) if across else (zero, columns)
            repeated = given.read(line, *at, stamp)
            if name is None:
                return repeated
            read = given.read(full[0], rows, columns, stamp)
            return arithmetic.BINARY[name](unit.execution.store, fmt, read, repeated)

        given.issue(compute)

    return handler


def _reduced(name: str, *, across: bool) -> Handler:
    """Return an instruction that reduces the rows (`across`), or the columns, of its source."""

    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        given = VectorInstruction(unit, statement, names, "isBinary")
        given.needs(1)
        source = given.tiles[0]
        fmt = given.alike(source, given.target)
        store = unit.execution.store
        given.require_apart(source)
        if 0 in source.valid:
            raise illegal(f"{given.name} of an empty tile")

        def compute(rows: Elements, columns: Elements, stamp: Stamp) -> Matrix:
            held_rows, held_columns = np.indices(tuple(source.valid))
            read = given.read(source, held_rows, held_columns, stamp)
            lines = read if across else np.ascontiguousarray(read.T)
            found = (
                arithmetic.summed(store, fmt, lines)
                if name == "sum"
                else arithmetic.greatest(name, store, fmt, lines)
            )
            at = rows if across else columns
            if at.size and at.max() >= len(found):
                raise illegal(f"{given.name} of {len(found)} lines into {at.max() + 1}")
            return found[at]

        given.issue(compute)

    return handler


def _fill(unit: ScalarUnit, statement: Other, names: Names) -> None:
    given = VectorInstruction(unit, statement, names)
    given.needs(0, 1)
    value = given.scalar(given.scalars[0][1], given.format(given.target))
    given.issue(lambda rows, columns, stamp: np.broadcast_to(value, rows.shape))


def _transpose(unit: ScalarUnit, statement: Other, names: Names) -> None:
    given = VectorInstruction(unit, statement, names)
    given.needs(1)
    source = given.tiles[0]
    given.alike(source, given.target)
    given.require_apart(source)
    given.issue(lambda rows, columns, stamp: given.read(source, columns, rows, stamp))


def _pad(unit: ScalarUnit, statement: Other, names: Names) -> None:
    given = VectorInstruction(unit, statement, names)
    given.needs(1)
    source, target = given.tiles[0], given.target
    fmt = given.alike(source, target)
    given.require_apart(source, elementwise=True)
    pad = unit.execution.store.constants(pad_encoding(target.tile.pad, fmt), fmt.bits)
    rows, columns = np.indices((target.tile.rows, target.tile.columns))
    inside = (rows < source.valid.rows) & (columns < source.valid.columns)
    numbers = given.elements(target, rows, columns).reshape(-1)

    def run(stamp: Stamp) -> None:
        terms = np.full(rows.shape, pad, dtype=np.int32)
        terms[inside] = given.read(source, rows[inside], columns[inside], stamp)
        given.spoil_scratch(stamp)
        unit.execution.write_tile(target, numbers, terms.reshape(-1), stamp)

    pipe = Pipe.MTE2 if target.tile.location is Location.MAT else Pipe.V
    unit.execution.issue(pipe, given.name, run)


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {
        "pto.tcvt": _convert, "pto.texpands": _fill, "pto.ttrans": _transpose, "pto.tfillpad": _pad,
        "pto.trowexpand": _expanded(None, across=True), "pto.tcolexpand": _expanded(None, across=False),
    }  # fmt: skip
    for name in arithmetic.BINARY:
        found[f"pto.t{name}"] = _binary(name)
        found[f"pto.t{name}s"] = _with_scalar(name)
        found[f"pto.trowexpand{name}"] = _expanded(name, across=True)
        found[f"pto.tcolexpand{name}"] = _expanded(name, across=False)
    for name in arithmetic.UNARY:
        found[f"pto.t{name}"] = _unary(name)
    for name in ("sum", "max", "min"):
        found[f"pto.trow{name}"] = _reduced(name, across=True)
        found[f"pto.tcol{name}"] = _reduced(name, across=False)
    return MappingProxyType(found)


VECTOR_HANDLERS: Mapping[str, Handler] = _handlers()
"""The instructions of this module, by name."""
