"""Expressions of assembler text have the values that GNU as and llvm-mc give them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from required_tools import required_tool

from mmaproof.spec.assembler_expressions import evaluate, evaluated
from mmaproof.spec.errors import InputError

VALUES = {
    "4+3&1": 5, "1|2+4": 7, "5-1|2": 2, "7^2*3": 1, "7!2": -1, "2<<1+1": 5, "16>>1+1": 9, "-8>>1": (1 << 63)
    - 4, "-7/2": -3, "-7%3": -1, "2*3%4": 2, "1-2-3": -4, "1==1": -1, "1<2": -1, "1<>2": -1, "1+2==3": -1,
    "3&&2": 1, "0||5": 1, "1||0&&0": 1, "!5": 0, "3-!0": 2, "~5": -6, "-(2+3)*4": -20, "012": 10, "0b101":
    5, "0x1F": 31, " ( 1 << 4 ) - 1 ": 15, "- - 3": 3, "1<<63": -(1 << 63), "2>=3": 0, "~-1": 0,
}  # fmt: skip
"""As GNU as 2.40 and llvm-mc 19 have them."""

_INFIX = re.findall(r"\S+", "+ - * / % << >> | & ^ == != < <= > >= && ||")


def random_expression(rng: Random, depth: int = 0) -> str:
    """Return an expression with shifts by small numbers, without ``a ! !b``: GNU as gives ``a | b``."""
    if depth == 4 or rng.random() < 0.25:
        return rng.choice(("0", "1", "2", "3", "5", "7", "012", "0x1f", "0b110", "100"))
    if rng.random() < 0.2:
        return rng.choice("-~!+") + f"({random_expression(rng, depth + 1)})"
    sign = rng.choice(_INFIX)
    left = random_expression(rng, depth + 1)
    right = rng.choice("1237") if sign in ("<<", ">>", "/", "%") else random_expression(rng, depth + 1)
    text = f"{left} {sign} {right}"
    return f"({text})" if rng.random() < 0.3 else text


def gnu(lines: Sequence[str], folder: Path) -> bytes:
    assembler = required_tool("powerpc64le-linux-gnu-as", package="binutils-powerpc64le-linux-gnu")
    return _data([assembler, "-mpower10", "-o", "a.o", "-"], lines, folder)


def llvm(lines: Sequence[str], folder: Path) -> bytes:
    assembler = required_tool("llvm-mc-19", package="llvm-19")
    return _data([assembler, "-triple=amdgcn", "-mcpu=gfx942", "-filetype=obj", "-o", "a.o"], lines, folder)


def _data(command: Sequence[str], lines: Sequence[str], folder: Path) -> bytes:
    text = "".join(f"{line}\n" for line in (".data", *(f".quad {line}" for line in lines)))
    subprocess.run(command, input=text, cwd=folder, check=True, capture_output=True, text=True, timeout=60)
    tool = required_tool("powerpc64le-linux-gnu-objcopy", package="binutils-powerpc64le-linux-gnu")
    copied = [tool, "-I", "elf64-little", "--dump-section", ".data=a.bin", "a.o", "b.o"]
    subprocess.run(copied, cwd=folder, check=True, capture_output=True, timeout=60)
    return (folder / "a.bin").read_bytes()


@pytest.mark.parametrize("text", VALUES)
def test_a_value(text: str) -> None:
    assert evaluate(text) == VALUES[text]


@pytest.mark.parametrize("assembler", [gnu, llvm], ids=lambda assembler: assembler.__name__)
def test_assemblers_give_these_values(
    assembler: Callable[[Sequence[str], Path], bytes], tmp_path: Path
) -> None:
    rng = Random(19)
    lines = [*VALUES, *(random_expression(rng) for _ in range(600))]
    ours = [evaluate(line) & (1 << 64) - 1 for line in lines]
    data = assembler(lines, tmp_path)
    theirs = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
    assert [
        (line, one, other) for line, one, other in zip(lines, ours, theirs, strict=True) if one != other
    ] == []


def test_symbols_have_values() -> None:
    symbols = {"n": 3, ".": 64, "_a.b$c": 1}
    assert evaluate("4*n + _a.b$c - .", symbols.__getitem__) == -51
    assert evaluate("%n", symbols.__getitem__) == 3
    assert evaluate("7 %n", symbols.__getitem__) == 1


def test_an_expression_ends_where_no_operator_follows() -> None:
    assert evaluated("a:1+2 b:3", 2) == (3, 5)
    assert evaluated("(1+2)(3)") == (3, 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no number"),
        ("1+", "is no number"),
        ("1 2", "'1 2' is no number"),
        ("09", "'09' is no number"),
        ("1b", "is no number"),
        ("0x", "is no number"),
        ("(1", "a parenthesis is not closed"),
        ("1)", "is no number"),
        ("n + 1", "symbol n is not known"),
        ("1/0", "1 / 0 divides by zero"),
        ("1%(2-2)", "1 % 0 divides by zero"),
        ("1<<64", "1 << 64 does not shift by 0 to 63"),
        ("1>>-1", "1 >> -1 does not shift"),
        ("(" * 100 + "1" + ")" * 100, "nested at most 64 deep"),
        ("-" * 100 + "1", "nested at most 64 deep"),
        ("9" * 5000, "is no number"),
        ("0x10000000000000000", "is no number"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as error:
        evaluate(text)
    assert len(str(error.value)) < 200
