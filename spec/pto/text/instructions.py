"""The matrix instructions and moves as a text has them, in three forms.

Each is printed as `assembly` reads it, canonically: the destination passing style with its types grouped,
attributes behind the operands, and what equals a default only where it was written.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..catalogue import Operation
from .syntax import Attributes, Statement, TypedValue, arguments, behind, defined, operand_types


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
        if any(each.type is not None for each in (*operands, *results)):
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


def _defined(operands: Sequence[TypedValue]) -> str:
    return defined([each.name for each in operands if each.name])


def _result_types(operands: Sequence[TypedValue]) -> str:
    found = list(map(str, operand_types(operands)))
    return found[0] if len(found) == 1 else f"({', '.join(found)})"
