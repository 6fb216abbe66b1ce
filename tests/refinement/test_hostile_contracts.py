"""Contracts that nobody means: each is read and made, or refused with an error of ours; nothing else."""

from __future__ import annotations

import random
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.contract.contract import Instance
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.examine.counterexamples import input_formats
from mmaproof.refinement.expected.contract_terms import expected_terms
from mmaproof.refinement.expected.reference_result import reference
from mmaproof.refinement.machine.array_memory import initial_bytes, inputs_of, memories
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.errors import MmaproofError
from mmaproof.spec.formats import FORMATS, Format, IntegerFormat

DOCUMENT = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)

NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "8", "32", "33", "255", "256", "65536", "2147483648", "1000000000000",
    "4611686018427387904", "9223372036854775807", "1" + "0" * 60, "0x" + "f" * 17, "1e400", "1e-400", "1e39",
    "0.5", "-0.0", "inf", "-inf", "nan", "1_000", "true",
)  # fmt: skip
WORDS = (
    '"M"', '"M + N"', '"M // 0"', '"1 << 61"', '"N - 40"', '"any"', '"kept"', '"row-major"', '"column-major"',
    '"in"', '"out"', '"inout"', '"f16"', '"s4"', '"e3m2"', '"u64"', '"ue8m0"', '"f64"', '"b1"', '""',
    '"' + "(" * 80 + '1"', "[]", "[1]", '["K", "M"]', "[0, 1]", "[16, 1]", "[1e3, nan]", "{}", "{a = 1}",
    "2020-01-01", "[[1], [[2]]]", "[300, 7, 1]", '"\\u0000"',
)  # fmt: skip
PARTS = (
    "i", "j", "k", "0", "1", "A[i, k]", "B[k, j]", "C[i, j]", "old(C[i, j])", "alpha", "M", "N", "sum(k, ",
    "sum(q < 3, ", "where(i < j, ", "max(", "relu(", "f16(", "s8(round(", "exp2(", "fma(", "cdiv(", "rcp(",
    "(", ")", "))", ", ", " + ", " - ", " * ", " / ", " // ", " % ", " << ", " >> ", " & ", " if ", " and ",
    "not ", " < ", " == ", " = ", "[", "]", "-", "1e400", "1e-320", "99999999999999999999", "1 << 62", "é",
)  # fmt: skip
KEYS = (
    "shape", "strides", "access", "alignment", "values", "element_bits", "low_bit", "gaps", "value", "type",
    "name", "grid", "block", "dynamic_shared", "formula", "equality", "accumulate", "isa", "x",
)  # fmt: skip
ASSIGNMENT = re.compile(r"^([\w]+) = (.*)$", re.MULTILINE)
FORMULA = re.compile(r'formula = "([^"\n]*)"')

GIB = 1 << 30
MOST_ELEMENTS = 1 << 14


@contextmanager
def bounded(memory: int) -> Iterator[None]:
    """Let this process have so much more address space, and no more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def changed(text: str, chance: random.Random) -> str:
    """Return a contract with a few keys, values or parts of its formula changed."""
    for _ in range(chance.randint(1, 3)):
        lines = [match for match in ASSIGNMENT.finditer(text) if match[1] != "formula"]
        formula = FORMULA.search(text)
        match chance.choice(("value", "key", "insert", "drop", "formula", "formula", "cut")):
            case "value" if lines:
                line = chance.choice(lines)
                value = chance.choice((*NUMBERS, *WORDS))
                text = f"{text[: line.start(2)]}{value}{text[line.end(2) :]}"
            case "key" if lines:
                line = chance.choice(lines)
                text = f"{text[: line.start(1)]}{chance.choice(KEYS)}{text[line.end(1) :]}"
            case "insert" if lines:
                line = chance.choice(lines)
                added = f"{chance.choice(KEYS)} = {chance.choice((*NUMBERS, *WORDS))}\n"
                text = text[: line.start()] + added + text[line.start() :]
            case "drop" if lines:
                line = chance.choice(lines)
                text = text[: line.start()] + text[line.end() + 1 :]
            case "formula" if formula:
                pieces = re.findall(r"\w+|\W", formula[1])
                at = chance.randrange(len(pieces) + 1)
                pieces[at : at + chance.randint(0, 2)] = chance.choices(PARTS, k=chance.randint(0, 3))
                text = text[: formula.start(1)] + "".join(pieces) + text[formula.end(1) :]
            case "cut":
                at = chance.randrange(len(text))
                text = text[:at] + text[at + chance.randint(1, 30) :]
    return text


def made(instance: Instance) -> None:
    """Make everything that a verification makes of a contract, where it is small."""
    memory = memories(instance)
    if sum(array.elements for array in instance.arrays.values()) > MOST_ELEMENTS:
        return
    store = TermStore()
    inputs = inputs_of(store, instance)
    for array in instance.arrays.values():
        initial_bytes(store, memory[array.name], inputs)
    if not instance.contract.formulas:
        return
    for output in instance.outputs:
        expected_terms(instance, output, store)
    chance = np.random.default_rng(0)
    numbers = {
        name: chance.integers(0, (1 << fmt.bits) - 1, prod(shape), np.uint64, endpoint=True)
        for name, (fmt, shape) in input_formats(instance).items()
    }
    reference(instance, numbers)


INDICES = ("i", "j", "M", "n", "0", "1", "3", "-7", "E[i & 1, 0]", "2305843009213693951")
"""Integers that sizes and indices decide."""

ON_INDICES = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} // {1})", "({0} % {1})", "({0} << {1})",
    "({0} >> {1})", "({0} & {1})", "max({0}, {1})", "cdiv({0}, {1})", "where({0} < {1}, {0}, {1})",
    "-{0}",
)  # fmt: skip
LEAVES = (
    "A[i, j]", "A[j % M, i // 2]", "A[i % M, 0]", "B[0]", "B[i + j]", "old(C[i, j])", "alpha", "0.5", "1e39",
    "1e-300", "3", "2e308", "123456789012345678901",
)  # fmt: skip
ON_DATA = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {2})", "-{0}", "max({0}, {1})", "min({0}, {1}, {0})",
    "relu({0})", "sum(k, A[0, k] * {0})", "sum(q < 3, {0})", "sum(q < 3, r < 2, {0} * q)",
    "where({2} < {2}, {0}, {1})", "where(i < j and not {2} == 1 or j >= 2, {0}, 0)", "exp2({0})",
    "rsqrt({0})",     "fma({0}, {1}, {0})", "s8(round({0}))", "B[{2}]", "where(0 <= {2} < M, A[{2}, 0], {1})",
)  # fmt: skip


def index(chance: random.Random, depth: int) -> str:
    """Return an expression in sizes and indices."""
    if not depth:
        return chance.choice(INDICES)
    return chance.choice(ON_INDICES).format(index(chance, depth - 1), index(chance, depth - 1))


def grown(chance: random.Random, depth: int) -> str:
    """Return an expression, nearly always a well-formed one."""
    if not depth or chance.random() < 0.15:
        return index(chance, 1) if chance.random() < 0.3 else chance.choice(LEAVES)
    if chance.random() < 0.3:
        return f"{chance.choice(tuple(FORMATS))}({grown(chance, depth - 1)})"
    parts = grown(chance, depth - 1), grown(chance, depth - 1), index(chance, 1)
    return chance.choice(ON_DATA).format(*parts)


def array(name: str, axes: int, access: str, chance: random.Random) -> tuple[Format, str]:
    """Return the format and the table of an array, nearly always one that can be."""
    fmt = chance.choice(tuple(FORMATS.values()))
    lines = [f'name = "{name}"', f'type = "{fmt}"', f'access = "{access}"']
    lines.append(f"shape = {[chance.choice((2, 3, 5, 'M', 'M + 1')) for _ in range(axes)]}")
    if chance.random() < 0.5:
        lines.append(f"strides = {chance.sample((1, 2, 7, 16, 100, 5000, 10**8), axes)}")
    if chance.random() < 0.5:
        bits = chance.choice([each for each in (4, 8, 16, 32, 64) if each >= fmt.bits])
        lines.append(f"element_bits = {bits}\nlow_bit = {chance.choice((0, bits - fmt.bits))}")
    if chance.random() < 0.3:
        lines.append(f'gaps = "{chance.choice(("kept", "any"))}"')
    if chance.random() < 0.2 and access == "in":
        lines.append(f"values = {chance.choice(([1], [0, 1], [1, 1, 0, [1]], [0.5], [-1, 0]))}")
    return fmt, "[[param]]\n" + "\n".join(lines)


def composed(chance: random.Random) -> str:
    """Return a contract of arrays of any layout and a formula of any parts."""
    condition = chance.choice(("", "", f" if {index(chance, 2)} < {index(chance, 1)}"))
    target, body = chance.choice(("C[i, j]",) * 9 + ("C[0, j]", "C[i, i]")), grown(chance, 3)
    output, table = array("C", 2, chance.choice(("out", "inout")), chance)
    if isinstance(output, IntegerFormat):
        body = f"{output}(round({body}))"
    alpha = chance.choice(("f16", "f32", "f64", "s32"))
    return "\n".join(
        [
            f'[kernel]\nisa = "ptx"\n[sizes]\nM = {chance.choice((2, 5, 5, 9))}',
            array("A", 2, "in", chance)[1],
            array("B", 1, "in", chance)[1],
            '[[param]]\nname = "E"\ntype = "u8"\nshape = [2, 1]\nvalues = [200, 1]',
            table,
            f'[[param]]\nname = "alpha"\ntype = "{alpha}"\nvalue = "any"',
            '[[param]]\nname = "n"\ntype = "s32"\nvalue = "M"',
            f'[ensures]\nformula = "{target} = {body}{condition}"',
            f'accumulate = "{chance.choice(("sequential", "unspecified"))}"',
        ]
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["changed", "composed"])
def test_hostile_contracts(kind: str, seed: int) -> None:
    chance = random.Random(seed)
    with bounded(4 * GIB):
        for _ in range(120):
            text = composed(chance) if kind == "composed" else changed(chance.choice(EXAMPLES), chance)
            try:
                for instance in parse_contract(text, "fuzzed.toml").instances():
                    made(instance)
            except MmaproofError as error:
                assert str(error)
            except Exception as error:
                raise AssertionError(text) from error
