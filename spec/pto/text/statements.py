"""Statements without regions: numbers, memory, order between pipes; each prints itself as it is read.

Names, constants and bounds are as written. Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..catalogue import Operation
from .syntax import Attributes, Statement, TypedValue, arguments, behind, defined, operand_types
from .types import Type, in_destination_passing_style

_DECIMAL_DIGITS = 4000


class TextualForm(StrEnum):
    """The families of textual forms."""

    F1 = "PTO-AS synchronous form"
    F2 = "AS/IR level 1 (SSA)"
    F3 = "AS/IR level 2 (destination passing style)"


@dataclass(frozen=True)
class InstructionStatement(Statement):
    """One operation of `OPERATIONS`.

    Attributes
    ----------
    operation : Operation
        Which one.
    form : TextualForm
        How it is written.
    inputs, outputs : tuple of TypedValue
        What it reads and writes; F1 and F2 write their results.
    attributes : tuple of (str, str)
        The attribute dictionary.
    results : tuple of TypedValue
        Tensors that the destination passing style of older files returns besides, in general none.
    """

    operation: Operation
    form: TextualForm
    inputs: tuple[TypedValue, ...]
    outputs: tuple[TypedValue, ...]
    attributes: Attributes = ()
    results: tuple[TypedValue, ...] = ()

    def __str__(self) -> str:
        attributes = behind(self.attributes)
        if self.form is TextualForm.F3:
            returned = f" -> {_result_types(self.results)}" if self.results else ""
            groups = f"ins{arguments(self.inputs)} outs{arguments(self.outputs)}"
            return f"{_defined(self.results)}pto.{self.operation} {groups}{attributes}{returned}"
        operands, results = self.inputs, self.outputs
        if self.operation.stores:
            operands, results = operands + results, ()
        listed = f" {', '.join(map(str, operands))}" if operands else ""
        signature = ""
        if any(operand.type is not None for operand in (*operands, *results)):
            signature = f" : ({', '.join(map(str, operand_types(operands)))}) -> {_result_types(results)}"
        prefix = "pto." if self.form is TextualForm.F2 else ""
        return f"{_defined(results)}{prefix}{self.operation}{listed}{attributes}{signature}"

    def operands(self) -> dict[str, TypedValue]:
        """Return the operands by role (as far as there are as many as roles).

        The indices of ``%panel[%row, %column]`` count as operands of their own.
        """
        inputs: list[TypedValue] = []
        for operand in self.inputs:
            given = operand.index_types or (None,) * len(operand.indices)
            inputs += [TypedValue(operand.name, operand.type), *map(TypedValue, operand.indices, given)]
        roles = (*self.operation.inputs, *self.operation.optional)
        return dict(zip(roles, inputs, strict=False)) | dict(
            zip((self.operation.output,), self.outputs, strict=False)
        )


@dataclass(frozen=True)
class Terminator(Statement):
    """``return``, ``func.return`` or ``scf.yield``."""

    name: str
    operands: tuple[TypedValue, ...] = ()

    def __str__(self) -> str:
        return self.name + (f" {_with_types(self.operands)}" if self.operands else "")


@dataclass(frozen=True)
class ConstantDefinition(Statement):
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
    attributes: Attributes = ()
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

    def __str__(self) -> str:
        value = self.text if self.type is None else f"{self.text} : {self.type}"
        defined = f".const {self.name} =" if self.directive else f"{self.name} = arith.constant"
        return f"{defined}{behind(self.attributes)} {value}"


@dataclass(frozen=True)
class Argument(Statement):
    """The directive ``.arg``."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f".arg {self.name} : {self.type}"


@dataclass(frozen=True)
class Arithmetic(Statement):
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
    attributes: Attributes = ()

    def __str__(self) -> str:
        predicate = f"{self.predicate}, " if self.predicate else ""
        flags = f" {self.flags}" if self.flags else ""
        operands = f"{predicate}{', '.join(self.operands)}{flags}{behind(self.attributes)}"
        target = "" if self.target is None else f" to {self.target}"
        return f"{defined(self.results)}{self.name} {operands} : {', '.join(map(str, self.types))}{target}"


@dataclass(frozen=True)
class Allocation(Statement):
    """``pto.alloc_tile``: a tile, at an address (level 3), with the valid extents its type leaves open."""

    name: str
    type: Type
    address: str | None = None
    valid_rows: str | None = None
    valid_columns: str | None = None
    attributes: Attributes = ()

    def __str__(self) -> str:
        given = {"addr": self.address, "valid_row": self.valid_rows, "valid_col": self.valid_columns}
        operands = "".join(f" {key} = {name}" for key, name in given.items() if name is not None)
        type_ = in_destination_passing_style(self.type)
        return f"{self.name} = pto.alloc_tile{operands}{behind(self.attributes)} : {type_}"


@dataclass(frozen=True)
class TensorView(Statement):
    """``pto.make_tensor_view``: global memory behind a pointer, as a tensor."""

    name: str
    pointer: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    type: Type
    attributes: Attributes = ()

    def __str__(self) -> str:
        extents = f"shape = {_indices(self.shape)}, strides = {_indices(self.strides)}"
        view = f"{self.pointer}, {extents}{behind(self.attributes)}"
        return f"{self.name} = pto.make_tensor_view {view} : {self.type}"


@dataclass(frozen=True)
class PartitionView(Statement):
    """``pto.partition_view``: a block of a tensor view; newer texts may leave out its type."""

    name: str
    source: str
    offsets: tuple[str, ...]
    sizes: tuple[str, ...]
    source_type: Type
    type: Type | None
    attributes: Attributes = ()

    def __str__(self) -> str:
        block = f"offsets = {_indices(self.offsets)}, sizes = {_indices(self.sizes)}"
        view = f"{self.source}, {block}{behind(self.attributes)}"
        result = "" if self.type is None else f" -> {self.type}"
        return f"{self.name} = pto.partition_view {view} : {self.source_type}{result}"


@dataclass(frozen=True)
class Handshake(Statement):
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
    attributes: Attributes = ()

    def __str__(self) -> str:
        marks = f"[<{self.source}>, <{self.target}>, <{self.event}>]"
        return f"pto.{self.name}{marks}{behind(self.attributes)}"


@dataclass(frozen=True)
class Barrier(Statement):
    """``pto.barrier <PIPE_ALL>``."""

    pipe: str

    def __str__(self) -> str:
        return f"pto.barrier <{self.pipe}>"


@dataclass(frozen=True)
class Synchronization(Statement):
    """``pto.tsync``: waits for events."""

    events: tuple[TypedValue, ...]

    def __str__(self) -> str:
        return f"pto.tsync ins{arguments(self.events)}"


def _with_types(operands: Sequence[TypedValue]) -> str:
    return f"{', '.join(map(str, operands))} : {', '.join(map(str, operand_types(operands)))}"


def _indices(indices: Sequence[str]) -> str:
    return f"[{', '.join(indices)}]"


def _defined(operands: Sequence[TypedValue]) -> str:
    return defined([operand.name for operand in operands if operand.name])


def _result_types(operands: Sequence[TypedValue]) -> str:
    found = list(map(str, operand_types(operands)))
    return found[0] if len(found) == 1 else f"({', '.join(found)})"
