"""Drives the Debian cross tools and QEMU: rank-k updates and built-ins run by something we didn't write."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from power_vectors import ALGEBRA, Vectors
from required_tools import required_tool

from mmaproof.spec.power.catalogue import RankKUpdate
from mmaproof.spec.power.encoding import LAYOUTS
from mmaproof.spec.power.forms import FORMS

SOURCES = Path(__file__).parent / "conformance"

RECORD = np.dtype(
    [
        ("prefix", "<u4"), ("suffix", "<u4"), ("rounding", "<u8"),
        ("acc", "u1", 64), ("x", "u1", 32), ("y", "u1", 16),
    ]
)  # fmt: skip
"""``struct record`` of power_oracle.c."""

OUTCOME = np.dtype([("acc", "u1", 64), ("fpscr", "<u8"), ("vscr", "u1", 16)])
"""``struct outcome`` of power_oracle.c."""

TARGET, X_OPERAND, Y_OPERAND = 1, 34, 36
"""The registers power_oracle.c loads: the accumulator, X (and the next VSR), Y."""


def compile_for_power10(source: str, executable: Path, *flags: str) -> Path:
    """Cross-compile a C program of ``tests/conformance``."""
    compiler = required_tool(
        "powerpc64le-linux-gnu-gcc-12", "powerpc64le-linux-gnu-gcc", package="gcc-12-powerpc64le-linux-gnu"
    )
    options = ("-mcpu=power10", "-O1", "-static", "-Wall", "-Wextra", "-Werror", *flags)
    subprocess.run([compiler, *options, "-o", executable, SOURCES / source], check=True)
    return executable


def run_on_power10(executable: Path, data: bytes = b"", emulator: str = "qemu-ppc64le") -> bytes:
    """Run a program under QEMU and return its standard output."""
    qemu = required_tool(emulator, package="qemu-user")
    finished = subprocess.run(
        [qemu, "-cpu", "power10", executable], input=data, capture_output=True, timeout=300, check=False
    )
    assert finished.returncode == 0, f"{executable.name}: exit {finished.returncode}, {finished.stderr!r}"
    return finished.stdout


@dataclass(frozen=True)
class Outcomes:
    """What the oracle made of a batch of vectors.

    Attributes
    ----------
    acc : array (n, 4, columns)
        Encodings.
    saturated : bool array (n,)
        VSCR.SAT, which was clear before.
    fpscr : uint64 array (n,)
        FPSCR; only RN was set before.
    """

    acc: NDArray[Any]
    saturated: NDArray[np.bool_]
    fpscr: NDArray[np.uint64]


@dataclass(frozen=True)
class Oracle:
    """An executable that runs rank-k updates on QEMU's Power10."""

    executable: Path

    def execute(self, update: RankKUpdate, prefixed: bool, vectors: Vectors) -> Outcomes:
        """Run the word or the ``pm`` form of `update` on every vector."""
        family, count = update.family, len(vectors.x)
        records = np.zeros(count, RECORD)
        instructions = _encode(update, prefixed, vectors)
        records["prefix"] = instructions >> np.uint64(32)
        records["suffix"] = instructions & np.uint64(0xFFFFFFFF)
        records["rounding"] = vectors.rounding
        for name, operand, fmt in (
            ("acc", vectors.acc, family.result), ("x", vectors.x, family.x), ("y", vectors.y, family.y)
        ):  # fmt: skip
            image = ALGEBRA.pack(operand.reshape(count, -1), fmt)
            records[name][:, : image.shape[1]] = image
        outcomes = np.frombuffer(run_on_power10(self.executable, records.tobytes()), OUTCOME)
        assert len(outcomes) == count
        acc = ALGEBRA.unpack(outcomes["acc"], family.result).reshape(count, 4, family.columns)
        return Outcomes(acc, (outcomes["vscr"][:, -1] & 1).astype(bool), outcomes["fpscr"])


def _encode(update: RankKUpdate, prefixed: bool, vectors: Vectors) -> NDArray[np.uint64]:
    """Return one instruction for each vector, prefix above suffix."""
    form = FORMS["pm" * prefixed + update.mnemonic]
    registers = (TARGET, X_OPERAND, Y_OPERAND)
    masks = (vectors.x_mask, vectors.y_mask, vectors.product_mask) if prefixed else ()
    values = [np.broadcast_to(np.uint64(register), len(vectors.x)) for register in registers]
    values += [mask.astype(np.uint64) for mask in masks]
    names = (operand.name for operand in form.operands)
    encoded: NDArray[np.uint64] = LAYOUTS[form].assemble(dict(zip(names, values, strict=False)))
    return encoded
