"""A parsed PTX module: names resolved, scopes flattened, nothing interpreted.

``str`` of each gives PTX that reads back as the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from types import MappingProxyType

from ....spec.errors import InputError
from ....spec.ptx.assembly import parse_mnemonic
from ....spec.ptx.instructions import Instruction
from ....spec.ptx.opcode_table import SPECIFIED
from ....spec.ptx.operands import Predicate
from .operands import Initial, Operand

TYPE_BITS: Mapping[str, int] = MappingProxyType(
    {
        **{f"{sort}{bits}": bits for sort in "bus" for bits in (8, 16, 32, 64)},
        **{"b128": 128, "s4": 4, "u4": 4, "b4": 4, "b1": 1, "b6": 6, "pred": 1},
        **{"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64},
        **{"f16x2": 32, "bf16x2": 32, "f32x2": 64, "s16x2": 32, "u16x2": 32, "s8x4": 32, "u8x4": 32},
        **{"e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4, "ue8m0": 8, "ue4m3": 8},
        **{"e4m3x2": 16, "e5m2x2": 16, "e3m2x2": 16, "e2m3x2": 16, "e2m1x2": 8, "ue8m0x2": 16},
        **{"e4m3x4": 32, "e5m2x4": 32, "e3m2x4": 32, "e2m3x4": 32, "e2m1x4": 16},
        **{"texref": 64, "samplerref": 64, "surfref": 64},
    }
)
"""Bits of a value of each type, as it stands in a register."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source line from ``.loc``.

    Attributes
    ----------
    file : str
        As the ``.file`` directive names it.
    line, column : int
        From 1; a column 0 is unknown.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class InstructionStatement:
    """One instruction.

    Attributes
    ----------
    opcode : str
        What stands before the first dot: ``ld``, ``mma``, ``cp``.
    modifiers : tuple of str
        The rest, in the order written, without dots: ``("global", "v4", "b32")``.
    operands : tuple of Operand
        In the order written; registers and labels by the names that are theirs alone in the function.
    predicate : Predicate, optional
        The guard.
    line : int
        Line of the file, from 1; no part of the comparison.
    source : SourceLine, optional
        The ``.loc`` that it stands under; no part of the comparison.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    predicate: Predicate | None = None
    line: int = field(default=0, compare=False)
    source: SourceLine | None = field(default=None, compare=False)

    @property
    def mnemonic(self) -> str:
        """The name with its modifiers, as written: ``ld.global.v4.b32``."""
        return ".".join([self.opcode, *self.modifiers])

    @property
    def text(self) -> str:
        """The instruction as PTX."""
        return str(self)

    @property
    def types(self) -> tuple[str, ...]:
        """The type modifiers, in the order written."""
        return _types(self.modifiers)

    def has(self, *modifiers: str) -> bool:
        """Say whether all of the modifiers are there, in any order; a leading dot doesn't matter."""
        return all(modifier.removeprefix(".") in self.modifiers for modifier in modifiers)

    def one_of(self, choices: Iterable[str]) -> str | None:
        """Return the first modifier that is among the choices, None if none is."""
        allowed = {choice.removeprefix(".") for choice in choices}
        return next((modifier for modifier in self.modifiers if modifier in allowed), None)

    def taking(self, least: int, most: int) -> tuple[Operand, ...]:
        """Return the operands.

        Raises
        ------
        InputError
            If they are fewer or more.
        """
        if not least <= len(self.operands) <= most:
            allowed = str(least) if least == most else f"{least} to {most}"
            raise InputError(f"{self.mnemonic} takes {allowed} operands, not {len(self.operands)}")
        return self.operands

    @property
    def is_matrix_instruction(self) -> bool:
        """Whether `mmaproof.spec.ptx` says what it means."""
        return self.opcode in SPECIFIED

    @property
    def multiplies_matrices(self) -> bool:
        """Whether it is a product of matrices, specified or not."""
        return self.opcode == "mma" or self.has("mma") or self.has("mma_async")

    def specified(self) -> Instruction:
        """Return a matrix instruction as the specification takes it.

        A statement without operands has none; it is no form whose operands are left open.

        Raises
        ------
        InputError
            If it is none, or a modifier is not known.
        """
        return Instruction(
            parse_mnemonic(self.mnemonic),
            self.operands,  # type: ignore[arg-type]  # an operand out of place is for legality to find
            self.predicate,
        )

    def __str__(self) -> str:
        guard = f"{self.predicate} " if self.predicate else ""
        operands = f" {', '.join(map(str, self.operands))}" if self.operands else ""
        return f"{guard}{self.mnemonic}{operands};"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory.

    Attributes
    ----------
    name : str
        Unique in the module, or in the function that declares it.
    space : str
        ``global``, ``shared``, ``local``, ``const`` or ``param`` (of a call).
    type : str
        Type of an element; ``v4.b32`` of a vector.
    dimensions : tuple of int or None
        Extents of an array; the first is None where it is left open (``tile[]``) and no values tell it.
    alignment : int
        Bytes.
    initial : tuple of (int, Initial)
        Values that aren't 0 by element index, row-major, a vector's elements counted; the others are 0 if
        ``space`` is ``global`` or ``const``.
    linkage : tuple of str
        ``extern``, ``visible``, ``weak``, ``common``.
    line : int
        Line of the file, from 1; no part of the comparison.
    """

    name: str
    space: str
    type: str
    dimensions: tuple[int | None, ...]
    alignment: int
    initial: tuple[tuple[int, Initial], ...] = ()
    linkage: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def size(self) -> int | None:
        """Bytes; None where the array's extent is left open."""
        return _size(self.type, self.dimensions)

    def __str__(self) -> str:
        words = [*(f".{word}" for word in self.linkage), f".{self.space}", f".align {self.alignment}"]
        declared = " ".join([*words, _dotted(self.type), self.name]) + _brackets(self.dimensions)
        return f"{declared}{self._initialiser()};"

    def _initialiser(self) -> str:
        if not self.initial:
            return ""
        lanes = [int(self.type.partition(".")[0][1:])] if "." in self.type else []
        shape = [extent or 0 for extent in self.dimensions] + lanes
        strides = [prod(shape[axis:]) for axis in range(1, len(shape) + 1)]
        return f" = {_nested(self.initial, strides)}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Attributes
    ----------
    name : str
        As declared.
    type : str
        Type of an element.
    dimensions : tuple of int or None
        Extents of an array: a structure passed by value is ``.b8 name[24]``.
    alignment : int
        Bytes.
    pointer_space : str, optional
        Of ``.ptr``: ``global``, ``shared``, ``const``, ``local`` or ``generic``; None of no pointer.
    pointer_alignment : int
        Bytes; what the pointer points to is so aligned.
    in_register : bool
        ``.reg`` instead of ``.param``.
    line : int
        Line of the file, from 1; no part of the comparison.
    """

    name: str
    type: str
    dimensions: tuple[int | None, ...] = ()
    alignment: int = 1
    pointer_space: str | None = None
    pointer_alignment: int = 1
    in_register: bool = False
    line: int = field(default=0, compare=False)

    @property
    def size(self) -> int | None:
        """Bytes."""
        return _size(self.type, self.dimensions)

    def __str__(self) -> str:
        words = [".reg" if self.in_register else ".param"]
        if self.pointer_space is None:
            words += [] if self.in_register else [f".align {self.alignment}"]
            words.append(_dotted(self.type))
        else:
            words += [_dotted(self.type), ".ptr"]
            words += [] if self.pointer_space == "generic" else [f".{self.pointer_space}"]
            words.append(f".align {self.pointer_alignment}")
        return " ".join([*words, self.name]) + _brackets(self.dimensions)


@dataclass(frozen=True)
class Function:
    """An entry or a device function.

    Attributes
    ----------
    name : str
        As declared.
    is_entry : bool
        ``.entry``, not ``.func``.
    parameters, returned : tuple of Parameter
        In order.
    registers : mapping of str to str
        Type of every register that the body uses, by its unique name; vectors are ``v4.b32``.
    variables : tuple of Variable
        Declared inside, of all scopes, in order: shared, local, global, param.
    body : tuple of InstructionStatement
        All scopes, in order; empty of a mere declaration.
    labels : mapping of str to int
        Index in ``body`` of the instruction that each label stands before (``len(body)`` at the end).
    limits : mapping of str to tuple of int
        Such as ``{"reqntid": (128,), "maxnreg": (64,), "noreturn": ()}``.
    tables : mapping of str to str
        The text of ``.branchtargets``, ``.calltargets`` and ``.callprototype``, by the table's name.
    linkage : tuple of str
        ``extern``, ``visible``, ``weak``.
    defined : bool
        Whether it has a body.
    line : int
        Line of the file, from 1; no part of the comparison.
    """

    name: str
    is_entry: bool
    parameters: tuple[Parameter, ...]
    returned: tuple[Parameter, ...]
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    body: tuple[InstructionStatement, ...]
    labels: Mapping[str, int]
    limits: Mapping[str, tuple[int, ...]]
    tables: Mapping[str, str]
    linkage: tuple[str, ...]
    defined: bool
    line: int = field(default=0, compare=False)

    @property
    def shared(self) -> tuple[Variable, ...]:
        """The shared variables declared inside."""
        return tuple(variable for variable in self.variables if variable.space == "shared")

    def __str__(self) -> str:
        head = [*(f".{word}" for word in self.linkage), ".entry" if self.is_entry else ".func"]
        if self.returned:
            head.append(f"({', '.join(map(str, self.returned))})")
        head.append(f"{self.name}({', '.join(map(str, self.parameters))})")
        head += [" ".join([f".{name}", ", ".join(map(str, values))]) for name, values in self.limits.items()]
        if not self.defined:
            return " ".join(head) + ";\n"
        lines = [" ".join(head), "{"]
        in_registers = {
            parameter.name for parameter in (*self.parameters, *self.returned) if parameter.in_register
        }
        lines += [
            f".reg {_dotted(kind)} {name};"
            for name, kind in self.registers.items()
            if name not in in_registers
        ]
        lines += map(str, self.variables)
        lines += [f"{name}: {text}" for name, text in self.tables.items()]
        places: dict[int, list[str]] = {}
        for label, index in self.labels.items():
            places.setdefault(index, []).append(f"{label}:")
        for index, instruction in enumerate(self.body):
            lines += [*places.get(index, ()), str(instruction)]
        return "\n".join([*lines, *places.get(len(self.body), ()), "}"]) + "\n"


@dataclass(frozen=True)
class Module:
    """A PTX file.

    Attributes
    ----------
    version : tuple of (int, int)
        ``.version``.
    target : str
        The architecture of ``.target``: ``sm_90a``.
    options : tuple of str
        What else ``.target`` lists, such as ``debug``.
    address_size : int
        32 or 64.
    variables : tuple of Variable
        Of the module, in order.
    functions : mapping of str to Function
        By name; a definition takes the place of its declarations.
    path : str
        The file, for messages.
    """

    version: tuple[int, int]
    target: str
    options: tuple[str, ...]
    address_size: int
    variables: tuple[Variable, ...]
    functions: Mapping[str, Function]
    path: str = field(default="", compare=False)

    @property
    def entries(self) -> tuple[Function, ...]:
        """The kernels."""
        return tuple(function for function in self.functions.values() if function.is_entry)

    def where(self, statement: InstructionStatement | Variable | Parameter | Function) -> str:
        """Return ``file:line`` of a statement."""
        return f"{self.path}:{statement.line}"

    def __str__(self) -> str:
        return "\n".join(
            [
                f".version {self.version[0]}.{self.version[1]}",
                f".target {', '.join([self.target, *self.options])}",
                f".address_size {self.address_size}",
                *map(str, self.variables),
                *map(str, self.functions.values()),
            ]
        )


@lru_cache(maxsize=4096)
def _types(modifiers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(modifier for modifier in modifiers if modifier in TYPE_BITS)


def type_bytes(name: str) -> int:
    """Return the bytes in memory of a type such as ``f32`` or ``v4.b32``."""
    *vector, element = name.split(".")
    lanes = int(vector[0][1:]) if vector else 1
    return lanes * max(1, TYPE_BITS[element] // 8)


def _size(name: str, dimensions: tuple[int | None, ...]) -> int | None:
    size = type_bytes(name)
    for extent in dimensions:
        if extent is None:
            return None
        size *= extent
    return size


def _dotted(name: str) -> str:
    return f".{name.replace('.', ' .')}"


def _nested(values: Sequence[tuple[int, Initial]], strides: Sequence[int]) -> str:
    """Spell values by index as nested braces; what is left out is zero."""
    if not strides:
        return str(values[0][1])
    rows: dict[int, list[tuple[int, Initial]]] = {}
    for index, value in values:
        rows.setdefault(index // strides[0], []).append((index % strides[0], value))
    zero = "{}" if len(strides) > 1 else "0"
    spelled = (_nested(rows[row], strides[1:]) if row in rows else zero for row in range(max(rows) + 1))
    return f"{{{', '.join(spelled)}}}"


def _brackets(dimensions: tuple[int | None, ...]) -> str:
    return "".join(f"[{'' if extent is None else extent}]" for extent in dimensions)
