"""Constant expressions have the values that ptxas gives them, and are refused where it refuses them."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ptx_assembler import Question, assembler

from mmaproof.refinement.ptx.text.parser import parse as parse_module
from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.operands import Constant, Decimal, Integer, Vector
from mmaproof.spec.ptx.targets import target_named

MMA = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
RESULT = "{b32_0, b32_1, b32_2, b32_3}"
INTEGERS = (
    "0", "1", "2", "3", "5U", "7", "010", "0x1F", "0b101", "64", "WARP_SZ", "0x7fffffffffffffff", "(.u64)9",
    "9223372036854775808", "0xFFFFFFFFFFFFFFFF", "(.s64)0xFFFFFFFFFFFFFFF0",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "==", "!=", "<", "<=", ">", ">=")
UNARY = ("-", "+", "~", "!", "(.s64)", "(.u64)")


def expression(rng: np.random.Generator, depth: int) -> str:
    """Return a random expression of integers, with parentheses here and there."""
    kind = int(rng.integers(5)) if depth else 4
    operands = [expression(rng, depth - 1) for _ in range(3)] if depth else []
    if kind < 2:
        text = f"{operands[0]} {rng.choice(BINARY)} {operands[1]}"
    elif kind == 2:
        text = f"{rng.choice(UNARY)} {operands[0]}"
    elif kind == 3:
        text = f"{operands[0]} ? {operands[1]} : {operands[2]}"
    else:
        text = str(rng.choice(INTEGERS))
    return f"({text})" if rng.integers(2) else text


def value(text: str) -> Constant:
    """Return what the specification's parser makes of an expression."""
    operands = parse(f"{MMA} {RESULT}, {RESULT}, {{b32_0, b32_1}}, {{{text}, 0, 0, 0}}").operands
    assert operands is not None and isinstance(operands[3], Vector)
    found = operands[3].elements[0]
    assert isinstance(found, Integer | Decimal)
    return found


def value_in_a_kernel(text: str) -> Constant:
    """Return what the parser of kernels makes of it."""
    head = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b64 %rd1;\n"
    module = parse_module(f"{head}mov.b64 %rd1, {text};\nret;\n}}\n")
    found = module.functions["k"].body[0].operands[1]
    assert isinstance(found, Integer | Decimal)
    return found


def initial_values(texts: list[str], kind: str, folder: Path) -> list[int] | list[float]:
    """Return the words of an array that ptxas initialises with expressions."""
    source, binary = folder / "values.ptx", folder / "values.cubin"
    head = ".version 8.7\n.target sm_90\n.address_size 64\n"
    array = f".visible .global .align 8 .{kind} v[{len(texts)}] = {{{', '.join(texts)}}};\n"
    source.write_text(f"{head}{array}.visible .entry k() {{ ret; }}\n", encoding="utf-8")
    command = [assembler().executable, "-arch", "sm_90", source, "-o", binary]
    subprocess.run(command, check=True, capture_output=True)
    image = binary.read_bytes()
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * size) for i in range(count)]
    for section in sections:
        name = image[sections[names][4] + section[0] :].split(b"\0", 1)[0]
        if name.startswith(b".nv.global.init"):
            return list(
                struct.unpack_from(f"<{len(texts)}{'d' if kind == 'f64' else 'q'}", image, section[4])
            )
    raise AssertionError("ptxas wrote no initial values")


def test_integers_have_the_values_of_ptxas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    expected: dict[str, int] = {}
    while len(expected) < 400:
        text = expression(rng, int(rng.integers(1, 4)))
        try:
            found = value(text)
        except InputError as reason:
            assert "divides by zero" in str(reason), text
            continue
        assert isinstance(found, Integer) and value_in_a_kernel(text) == found, text
        expected[text] = (found.value + (1 << 63)) % (1 << 64) - (1 << 63)
    texts = ["1", *expected]  # an array of zeros would have no initial values
    found_there = initial_values(texts, "s64", tmp_path)[1:]
    wrong = {t: (n, e) for (t, e), n in zip(expected.items(), found_there, strict=True) if n != e}
    assert wrong == {}


def test_floats_have_the_values_of_ptxas(tmp_path: Path) -> None:
    texts = ["1.0/3.0", "-1.5*2.0", "1.0 + 2.0 * 3.0", "-(-1.5)", "(0d3FF0000000000000) + 1.0", "0.1+0.2"]
    found = [value_in_a_kernel(text) for text in texts]
    assert [float(each.text) for each in found if isinstance(each, Decimal)] == initial_values(
        texts, "f64", tmp_path
    )


@pytest.mark.parametrize(
    "text",
    [
        "(1)", "16+16", "-(-1)", "- -1", "1?2:3", "WARP_SZ*2", "7 % 3", "7%3", "(.s64)3", "(.u64)-1>5", "5/0",
        "1.0+2", "1.0<2.0", "1<2?3.0:4.0", "1 2", "1+", "*2", "(1", "1)", "1?2", "1:2", "!0", "!1.5", "~1.5",
        "b32_0+1", "(b32_0)", "0f00000000+0f00000000", "1.0/0.0", "1&&0||1", "((((1))))",
    ],
)  # fmt: skip
def test_what_ptxas_takes_is_taken(text: str) -> None:
    """As an element of C, which takes integers; of a float only the syntax is of interest."""
    asked = f"{MMA} {RESULT}, {RESULT}, {{b32_0, b32_1}}, {{{text}, 0, 0, 0}};"
    (complaint,) = assembler().accepts([Question(asked, target_named("sm_90"), (8, 0))])
    try:
        parse(asked)
        refused = None
    except InputError as reason:
        refused = str(reason)
    assert (complaint is None) == (refused is None), (complaint, refused)
