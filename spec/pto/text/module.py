"""A whole PTO file: functions, loops, memory, synchronisation, and the instructions between them.

Statements stand in the order of the text, with their regions; names, constants and bounds are as
written. What has no class of its own is kept as `Other`, so that a file is read even where it uses
dialects that mmaproof does not model.

Source: reference section D.3 and E; ptoas at a56b18c3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from .syntax import Instruction, Operand, Type

_VALUE = re.compile(r"%(?:[\w$.]|-(?!>))+(?:#\d+)?", re.ASCII)
_DECIMAL_DIGITS = 4000


@dataclass(frozen=True, kw_only=True)
class Placed:
    """What stands somewhere in a text.

    Attributes
    ----------
    line, column : int
        Where it starts, from 1; statements that differ in nothing else are equal.
    """

    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Block:
    """The statements of a region."""

    statements: tuple[Statement, ...] = ()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)


@dataclass(frozen=True)
class Module(Placed):
    """A file, or a ``module`` inside of one.

    Attributes
    ----------
    body : Block
        Its statements.
    attributes : tuple of (str, str)
        Such as ``pto.target_arch``.
    name : str, optional
        ``@name``.
    explicit : bool
        Whether the text says ``module``; a listing of statements does not.
    path : str, optional
        The file.
    """

    body: Block
    attributes: tuple[tuple[str, str], ...] = ()
    name: str | None = None
    explicit: bool = True
    path: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        from .printing import spell_module

        return spell_module(self)

    @property
    def target(self) -> str | None:
        """The processor that it, or the first module inside of it, says it is for (``pto.target_arch``)."""
        for module in (self, *(each for each in self.body if isinstance(each, Module))):
            if (written := dict(module.attributes).get("pto.target_arch")) is not None:
                return written.partition(" : ")[0].strip('"')
        return None

    def walk(self) -> Iterator[Statement]:
        """Yield every statement, outer ones first, in the order of the text."""
        yield from _walk(self.body)

    @property
    def functions(self) -> tuple[Function, ...]:
        """Every function."""
        return tuple(statement for statement in self.walk() if isinstance(statement, Function))

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """Every matrix instruction and move."""
        return tuple(statement for statement in self.walk() if isinstance(statement, Instruction))


@dataclass(frozen=True)
class Function(Placed):
    """``func.func``; ``body`` is None for a declaration, whose parameters have no names."""

    name: str
    parameters: tuple[Parameter, ...]
    result_types: tuple[Type, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    body: Block | None = None
    visibility: str | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str | None
    type: Type
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Loop(Placed):
    """``scf.for variable = lower to upper step step``.

    Attributes
    ----------
    results, result_types : tuple
        What the loop returns, from its last ``scf.yield``.
    carried : tuple of (str, str)
        The names it carries from one trip to the next, and what they start from.
    index_type : Type, optional
        Of the variable; ``index`` where the text gives none.
    """

    variable: str
    lower: str
    upper: str
    step: str
    body: Block
    results: tuple[str, ...] = ()
    carried: tuple[tuple[str, str], ...] = ()
    result_types: tuple[Type, ...] = ()
    index_type: Type | None = None
    unsigned: bool = False
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Conditional(Placed):
    """``scf.if``; ``otherwise`` is None where there is no ``else``."""

    condition: str
    body: Block
    otherwise: Block | None = None
    results: tuple[str, ...] = ()
    result_types: tuple[Type, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Terminator(Placed):
    """``return``, ``func.return`` or ``scf.yield``."""

    name: str
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Constant(Placed):
    """``arith.constant``, or the directive ``.const``.

    Attributes
    ----------
    name : str
        What it defines.
    text : str
        The value as written.
    type : Type, optional
        None where the text gives none (``true``).
    directive : bool
        Whether it is ``.const``.
    """

    name: str
    text: str
    type: Type | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    directive: bool = False

    @property
    def integer(self) -> int | None:
        """The value where it is an integer or a truth value; a hexadecimal float is not."""
        if self.text in ("true", "false"):
            return int(self.text == "true")
        written_as_float = self.type is not None and re.match(r"(bf|tf|f)\d", str(self.type))
        if written_as_float or len(self.text) > _DECIMAL_DIGITS:
            return None
        try:
            return int(self.text, 16 if self.text.startswith("0x") else 10)
        except ValueError:
            return None


@dataclass(frozen=True)
class Argument(Placed):
    """The directive ``.arg``."""

    name: str
    type: Type


@dataclass(frozen=True)
class Arithmetic(Placed):
    """An operation of dialect ``arith``: ``%3 = arith.cmpi slt, %1, %2 : index``.

    Attributes
    ----------
    predicate : str, optional
        Of a comparison.
    flags : str, optional
        Such as ``overflow<nsw>``.
    types : tuple of Type
        After the colon.
    target : Type, optional
        What a cast goes ``to``.
    """

    results: tuple[str, ...]
    name: str
    operands: tuple[str, ...]
    types: tuple[Type, ...]
    predicate: str | None = None
    flags: str | None = None
    target: Type | None = None
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Allocation(Placed):
    """``pto.alloc_tile``: a tile, at an address (level 3), with the valid extents its type leaves open."""

    name: str
    type: Type
    address: str | None = None
    valid_rows: str | None = None
    valid_columns: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TensorView(Placed):
    """``pto.make_tensor_view``: global memory behind a pointer, as a tensor."""

    name: str
    pointer: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    type: Type
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PartitionView(Placed):
    """``pto.partition_view``: a block of a tensor view."""

    name: str
    source: str
    offsets: tuple[str, ...]
    sizes: tuple[str, ...]
    source_type: Type
    type: Type
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Handshake(Placed):
    """``set_flag`` and ``wait_flag`` between pipes, ``record_event`` and ``wait_event`` between operations.

    Attributes
    ----------
    name : str
        Which, without ``pto.``.
    source, target : str
        Pipes (``PIPE_MTE2``) or operations (``TLOAD``).
    event : str
        ``EVENT_ID0``, ….
    """

    name: str
    source: str
    target: str
    event: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Barrier(Placed):
    """``pto.barrier <PIPE_ALL>``."""

    pipe: str


@dataclass(frozen=True)
class Synchronization(Placed):
    """``pto.tsync``: waits for events."""

    events: tuple[Operand, ...]


@dataclass(frozen=True)
class Other(Placed):
    """A statement of an operation that mmaproof does not model, as it stands.

    Attributes
    ----------
    name : str
        Of the operation; of a label (``^bb0``) or an attribute alias (``#map``), that.
    results : tuple of str
        What it defines.
    pieces : tuple of str or Block
        What follows the name: text, blanks normalised, and regions.
    """

    name: str
    results: tuple[str, ...] = ()
    pieces: tuple[str | Block, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """Every SSA value its text mentions."""
        return tuple(
            name for piece in self.pieces if isinstance(piece, str) for name in _VALUE.findall(piece)
        )


Statement: TypeAlias = (
    Instruction
    | Module
    | Function
    | Loop
    | Conditional
    | Terminator
    | Constant
    | Argument
    | Arithmetic
    | Allocation
    | TensorView
    | PartitionView
    | Handshake
    | Barrier
    | Synchronization
    | Other
)


def regions(statement: Statement) -> tuple[Block, ...]:
    """Return the regions of a statement, in the order of the text."""
    match statement:
        case Module(body) | Loop(body=body):
            return (body,)
        case Function(body=body):
            return () if body is None else (body,)
        case Conditional(body=body, otherwise=otherwise):
            return (body,) if otherwise is None else (body, otherwise)
        case Other(pieces=pieces):
            return tuple(piece for piece in pieces if isinstance(piece, Block))
        case _:
            return ()


def _walk(block: Block) -> Iterator[Statement]:
    for statement in block:
        yield statement
        for region in regions(statement):
            yield from _walk(region)
