"""The memory operand of ``wmma`` and the published models are as tables of documents have them."""

from __future__ import annotations

from collections.abc import Mapping

from ...spec.formats import format_named
from ...spec.ptx.architectures import ARCHITECTURES
from ...spec.ptx.assembly import parse
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.variant import Shape
from ...spec.ptx.wmma import MemoryOperand
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import memory

wmma_memory = table_theorem(
    "ptx/stated/wmma-memory",
    "default strides and alignments of wmma are those of the manual's tables",
    "(shape, operand, layout) ↦ default stride in elements, (shape, type, operand) ↦ bytes that lines are "
    "aligned to; element (r, c) is r lines and c elements from the pointer with .row, c and r with .col",
    "PTX ISA 9.1 section 9.7.14.4: matrix storage, alignment",
    lambda: {"strides": _strides, "alignments": _alignments},
)


_ANY_TYPE = {"m8n8k32": "s4", "m8n8k128": "b1", "m16n16k8": "tf32", "m8n8k4": "f64"}


def _operand(shape: str, role: str, element: str, layout: str) -> MemoryOperand:
    return MemoryOperand(Shape.parse(shape), role, format_named(element), layout)


def _strides() -> Certificate:
    expected: dict[tuple[str, ...], tuple[int, int]] = {
        at: (stride, 3 * stride + 2 if at[2] == "row" else 2 * stride + 3)
        for at, stride in memory.STRIDES.items()
    }

    def specified() -> Mapping[tuple[str, ...], tuple[int, int]]:
        found: dict[tuple[str, ...], tuple[int, int]] = {}
        for shape, role, layout in memory.STRIDES:
            operand = _operand(shape, role, _ANY_TYPE.get(shape, "f16"), layout)
            stride = operand.minimum_stride
            found[shape, role, layout] = stride, operand.element(3, 2, stride)
        return found

    return compared(expected, specified)


def _alignments() -> Certificate:
    return answered(
        memory.ALIGNED, lambda shape, element, role: _operand(shape, role, element, "row").fragment_bytes
    )


models = table_theorem(
    "ptx/stated/models",
    "the models of the matrix units have the published parameters",
    "architecture ↦ (target, fraction bits of terms, bits of a row of A in one step, both for fp8 too) "
    "is the table written down from the publications; listed products ↦ architectures that execute them",
    "MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004; Valpey, arXiv 2502.15999",
    lambda: {"parameters": _models, "executed": _executed},
)


def _models() -> Certificate:
    def specified() -> Mapping[str, object]:
        return {
            each.name: (
                each.name, each.target, each.fraction_bits, each.step_bits, each.fp8_fraction_bits,
                each.fp8_step_bits,
            )
            for each in ARCHITECTURES
        }  # fmt: skip

    return compared(memory.MODELS, specified)


def _executed() -> Certificate:
    def units(text: str) -> set[str]:
        resolved = multiplication(parse(text).variant)
        return {each.name for each in ARCHITECTURES if resolved.is_executable_on(each)}

    return answered(memory.EXECUTED, units)


THEOREMS = (wmma_memory, models)
