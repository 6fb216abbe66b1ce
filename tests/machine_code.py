"""Reads the machine code of single multiply-accumulates: ptxas assembles them, nvdisasm prints them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptx_assembler import assembler, installed
from ptx_variants import form_of_legal

from mmaproof.spec.ptx.signatures import Sort, signature
from mmaproof.spec.ptx.targets import Target, spell_version
from mmaproof.spec.ptx.variant import Variant

PACKAGE = "nvidia-cuda-nvdisasm"

_ENTRY = re.compile(r"\.text\.k(\d+):")
_INSTRUCTION = re.compile(
    r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(?P<opcode>[A-Z0-9_.a-z]+)\s*(?P<operands>[^;]*);"
)
_SHAPE = re.compile(r"(?P<m>16|8)x?8x?(?P<k>\d+)\Z")
_REGISTER = re.compile(r"\b(?:R(\d+)|(RZ))\b")


@dataclass(frozen=True)
class MatrixInstruction:
    """One instruction of the matrix unit.

    Attributes
    ----------
    unit : str
        ``HMMA``, ``QMMA``, ….
    rows, products : int
        M, and the products of an element of D (N is 8).
    modifiers : tuple of str
        What else the opcode says.
    from_zero : bool
        Whether its addend is the register that is always zero.
    halves : frozenset of str
        Which bytes of the registers of 8-bit floats its A was widened from: ``low``, ``high``.
    """

    unit: str
    rows: int
    products: int
    modifiers: tuple[str, ...]
    from_zero: bool
    halves: frozenset[str]


@dataclass(frozen=True)
class Code:
    """The machine code of a kernel that loads operands, multiplies once and stores D.

    Attributes
    ----------
    matrix : tuple of MatrixInstruction
        In the order they are executed.
    others : mapping of str to int
        How often any other opcode occurs that computes.
    """

    matrix: tuple[MatrixInstruction, ...]
    others: Mapping[str, int]

    def uses(self, *opcodes: str) -> bool:
        """Say whether an opcode begins with one of some texts."""
        return any(name.startswith(opcodes) for name in self.others)


_TRANSPORT = re.compile(
    r"(LDC|LDG|STG|LDCU|ULDC|LD|ST|MOV|UMOV|IMAD\.MOV|CS2R|EXIT|BRA|NOP|WARPSYNC|RET|R2UR|UIADD3|BMOV)(\.|\Z)"
)
"""What loads and stores (and their addresses), copies and ends."""

_PROLOGUE = ("ISETP.NE.U32.AND", "P0, PT, RZ, UR2, PT")
"""How kernels for sm_87 begin."""


def assemble(variants: Sequence[Variant], target: Target) -> list[Code]:
    """Return the machine code of each variant on a target that has it."""
    source = f".version {spell_version(assembler().ptx)}\n.target {target}\n.address_size 64\n"
    source += "\n".join(line for number, variant in enumerate(variants) for line in _kernel(number, variant))
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = Path(folder) / "forms.ptx", Path(folder) / "forms.cubin"
        ptx.write_text(source + "\n")
        subprocess.run(
            [
                assembler().executable, "-arch", str(target), "-suppress-sparse-mma-advisory-info", ptx,
                "-o", cubin,
            ],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        printed = subprocess.run(
            [installed("nvdisasm", PACKAGE), "-c", cubin], check=True, capture_output=True, text=True
        )
    kernels: dict[int, list[tuple[str, str]]] = {}
    for line in printed.stdout.splitlines():
        if entry := _ENTRY.match(line.strip()):
            lines = kernels[int(entry[1])] = []
        elif found := _INSTRUCTION.search(line):
            lines.append((found["opcode"], found["operands"]))
    return [_read(kernels[number]) for number in range(len(variants))]


def _read(lines: Sequence[tuple[str, str]]) -> Code:
    """Follow which bytes of 8-bit floats each register was widened from, in the order of the text."""
    matrix, others = [], Counter[str]()
    halves: dict[int, str] = {}
    for opcode, operands in lines:
        unit, *modifiers = opcode.split(".")
        if unit.endswith("MMA") and unit != "HFMA2":
            matrix.append(_matrix_instruction(unit, modifiers, operands, halves))
            continue
        if not _TRANSPORT.match(opcode) and (opcode, operands.strip()) != _PROLOGUE:
            others[opcode] += 1
        registers = [int(number) for number, _ in _REGISTER.findall(operands) if number]
        if "UNPACK_B" in opcode:
            halves[registers[0]] = "high" if ".H1" in operands else "low"
        elif "MOV" in opcode and len(registers) == 2 and registers[1] in halves:
            halves[registers[0]] = halves[registers[1]]
    return Code(tuple(matrix), others)


def _matrix_instruction(
    unit: str, modifiers: Sequence[str], operands: str, halves: Mapping[int, str]
) -> MatrixInstruction:
    (place, shape) = next((i, m) for i, text in enumerate(modifiers) if (m := _SHAPE.match(text)))
    others = tuple(text for i, text in enumerate(modifiers) if i != place)
    products = int(shape["k"]) // (2 if "SP" in others else 1)
    _, a, _, addend, *_ = (_REGISTER.search(operand) for operand in operands.split(","))
    assert a is not None
    registers = range(int(a[1]), int(a[1]) + 2) if a[1] else ()
    return MatrixInstruction(
        unit,
        int(shape["m"]),
        products,
        others,
        addend is not None and addend[2] is not None,
        frozenset(halves[number] for number in registers if number in halves),
    )


def _kernel(number: int, variant: Variant) -> Iterator[str]:
    """Yield a kernel that loads every operand from memory and stores D, so that nothing is left out."""
    yield f".visible .entry k{number}(.param .u64 memory) {{"
    yield ".reg .u64 %at;"
    yield "ld.param.u64 %at, [memory];"
    operands, position = [], 0
    width = 64 if variant.element_types.get("d") == "f64" else 32
    stored = 0
    for operand in signature(form_of_legal(variant), variant):
        match operand.sort:
            case Sort.VECTOR | Sort.SCALAR:
                count = operand.registers if operand.sort is Sort.VECTOR else 1
                yield f".reg .b{width} %{operand.name}<{count}>;"
                if operand.name == "d":
                    stored = count
                else:
                    for i in range(count):
                        yield f"ld.global.b{width} %{operand.name}{i}, [%at+{position}];"
                        position += width // 8
                names = ", ".join(f"%{operand.name}{i}" for i in range(count))
                operands.append(f"{{{names}}}" if operand.sort is Sort.VECTOR else names)
            case Sort.PAIR:
                operands.append("{0, 0}")
            case _:
                operands.append("0")
    yield f"{variant} {', '.join(operands)};"
    yield from (f"st.global.b{width} [%at+{i * width // 8}], %d{i};" for i in range(stored))
    yield "ret; }"
