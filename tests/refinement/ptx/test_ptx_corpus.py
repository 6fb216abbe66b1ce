"""PTX that Triton and nvcc wrote: it is read whole, resolved, and printed back to what was read."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from cuda_contracts import CORPUS as CUDA

from mmaproof.refinement.ptx.text.module import Module
from mmaproof.refinement.ptx.text.operands import (
    Arguments,
    Displaced,
    Label,
    Negated,
    Pair,
    SpecialRegister,
    Symbol,
    TensorAddress,
)
from mmaproof.refinement.ptx.text.parser import parse, read
from mmaproof.spec.ptx.legality import violations
from mmaproof.spec.ptx.operands import Address, Register, Vector
from mmaproof.spec.ptx.special_registers import SPECIAL_REGISTERS
from mmaproof.spec.ptx.targets import NEWEST, target_named

KERNELS = Path(__file__).parents[2] / "kernels"
FOLDERS = [KERNELS / name for name in ("triton", "triton_rows", "triton_scaled")] + [CUDA]
ELSEWHERE = [
    KERNELS / name
    for name in (
        *("cuda_operators", "cutlass", "tensor_memory"),
        *("triton_tensor_memory", "triton_warpgroup", "warpgroup"),
    )
]
"""Read where they are verified."""
FILES = [file for folder in FOLDERS for file in sorted(folder.glob("*.ptx"))]
NAMES = [f"{file.parent.name}/{file.name}" for file in FILES]


@cache
def module_of(file: Path) -> Module:
    return read(file)


def registers_in(operand):
    match operand:
        case Register():
            yield operand
        case Vector() | Arguments():
            for element in operand.elements:
                yield from registers_in(element)
        case Address() | Displaced():
            yield from registers_in(operand.base)
        case Negated():
            yield operand.register
        case Pair():
            yield from registers_in(operand.first)
            yield from registers_in(operand.second)
        case TensorAddress():
            for part in (operand.base, *operand.others):
                yield from registers_in(part)


def test_the_corpus_is_there():
    tables = [json.loads((folder / "kernels.json").read_text()) for folder in FOLDERS]
    assert [len(table) for table in tables] == [len(list(folder.glob("*.ptx"))) for folder in FOLDERS]
    assert {file.parent for file in KERNELS.glob("*/*.ptx")} <= {*FOLDERS, *ELSEWHERE}
    assert {name for table in tables for name in table} == {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_module_is_what_its_table_says(file):
    row = json.loads((file.parent / "kernels.json").read_text())[file.name]
    module = module_of(file)
    assert module.target == row["target"]
    [entry] = module.entries
    assert entry.name == row["entry"]
    if "parameters" in row:
        assert len(entry.parameters) == len(row["parameters"])
        assert entry.limits["reqntid"] == (row["threads"],)


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_every_statement_is_read_on_its_line(file):
    lines = file.read_text().splitlines()
    [entry] = module_of(file).entries
    found = {}
    for instruction in entry.body:
        found.setdefault(instruction.line, []).append(instruction)
    for number, line in enumerate(lines, 1):
        code = re.sub(r"//.*", "", line).strip()
        is_instruction = re.match(r"(@\S+\s+)?[a-z]", code) is not None  # labels of both tools begin with $
        assert is_instruction == (number in found), (number, line)
        if is_instruction:
            [instruction] = found[number]
            spelled = re.sub(r"\s", "", code)
            guard = f"{instruction.predicate}" if instruction.predicate else ""
            assert spelled.startswith(f"{guard}{instruction.mnemonic}")


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_every_name_is_resolved(file):
    module = module_of(file)
    [entry] = module.entries
    symbols = {variable.name for variable in (*module.variables, *entry.variables, *entry.parameters)}
    for instruction in entry.body:
        if instruction.predicate is not None:
            assert entry.registers[instruction.predicate.name] == "pred"
        for register in (each for operand in instruction.operands for each in registers_in(operand)):
            match register:
                case Label():
                    assert 0 <= entry.labels[register.name] <= len(entry.body)
                case Symbol():
                    assert register.name in symbols
                case SpecialRegister():
                    assert register.type == SPECIAL_REGISTERS[register.name]
                case _:
                    assert register.type == entry.registers[register.name]


@pytest.mark.sample(60)
@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_printing_and_reading_again_gives_the_same(file):
    module = module_of(file)
    assert parse(str(module)) == module


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_matrix_instructions_are_those_of_the_specification(file):
    module = module_of(file)
    [entry] = module.entries
    matrix = {i.text: i for i in entry.body if i.is_matrix_instruction}
    without = "grouped_(?!attention)|simt|shuffled|nf4|.*softmax|.*_norm|swiglu|geglu|.*cross|rotary|combined"
    without += "|awq_weights|gptq_weights|kl_divergence"
    assert bool(matrix) != bool(re.match(without, file.name))
    for instruction in matrix.values():
        specified = instruction.specified()
        assert not violations(specified, target_named(module.target), min(module.version, NEWEST))


def test_source_lines_are_those_of_the_front_end():
    [entry] = module_of(KERNELS / "triton" / "gemm_f16_f32_f32_32x32x32_s1_sm80.ptx").entries
    source = (KERNELS / "triton" / "gemm.py").read_text().splitlines()
    called = {("ld", "global"): "tl.load", ("mma", "sync"): "tl.dot", ("st", "global"): "tl.store"}
    for (opcode, modifier), function in called.items():
        places = {i.source for i in entry.body if i.opcode == opcode and i.has(modifier)}
        assert places
        assert all(place.file == "gemm.py" and function in source[place.line - 1] for place in places)
