"""Kernels in C for Power10, compiled by GCC, with their contracts; and the same run under QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from power_oracle import run_on_power10
from required_tools import required_tool

from mmaproof.refinement.verification import Verification, verify

SOURCES = Path(__file__).parent / "kernels" / "power"

DGEMM = """
[kernel]
isa = "power"

[sizes]
N = {N}

[[param]]
name = "A"
type = "f64"
shape = [2, 4, 4, 2]
access = "out"

[[param]]
name = "X"
type = "f64"
shape = ["N", 8]

[[param]]
name = "Y"
type = "f64"
shape = ["N", 8]

[[param]]
name = "n"
type = "s32"
value = "N"

[ensures]
formula = "A[p, q, r, c] = sum(t, X[t, 4*p + r] * Y[t, 2*q + c])"
"""

SCONV = """
[kernel]
isa = "power"

[sizes]
n = {n}

[[param]]
name = "C"
type = "f32"
shape = [2, 4, 4, 4]
access = "out"

[[param]]
name = "H"
type = "f32"
shape = [3, 3, 3, 8]

[[param]]
name = "R"
type = "f32"
shape = [3, "n"]

[[param]]
name = "G"
type = "f32"
shape = [3, "n"]

[[param]]
name = "B"
type = "f32"
shape = [3, "n"]

[[param]]
name = "n"
type = "s32"
value = "n"

[ensures]
formula = '''C[p, q, r, c] = sum(u, sum(s, H[0, u, s, 4*p + r] * R[u, 4*q + c + s]))
    + sum(u, sum(s, H[1, u, s, 4*p + r] * G[u, 4*q + c + s]))
    + sum(u, sum(s, H[2, u, s, 4*p + r] * B[u, 4*q + c + s]))'''
"""

SGEMM = """
[kernel]
isa = "power"
entry = "sgemm"

[sizes]
M = {M}
N = {N}
K = {K}

[[param]]
name = "m"
type = "s32"
value = "M"

[[param]]
name = "n"
type = "s32"
value = "N"

[[param]]
name = "k"
type = "s32"
value = "K"

[[param]]
name = "A"
type = "f32"
shape = ["M", "K"]

[[param]]
name = "B"
type = "f32"
shape = ["K", "N"]

[[param]]
name = "C"
type = "f32"
shape = ["M", "N"]
access = "inout"

[ensures]
formula = "C[i, j] = old(C[i, j]) + sum(k, A[i, k] * B[k, j])"
"""

IGEMM = """
[kernel]
isa = "power"

[sizes]
K = {K}

[[param]]
name = "C"
type = "s32"
shape = [4, 4]
access = "out"

[[param]]
name = "A"
type = "s8"
shape = ["K // 4", 4, 4]

[[param]]
name = "B"
type = "u8"
shape = ["K // 4", 4, 4]

[[param]]
name = "k"
type = "s64"
value = "K"

[ensures]
formula = "C[i, j] = sum(p, sum(q, A[p, i, q] * B[p, j, q]))"
"""

CONTRACTS: Mapping[str, str] = {
    **{"dgemm": DGEMM, "sconv": SCONV, "sgemm": SGEMM, "igemm": IGEMM},
    **{name: (SOURCES / f"{name}.toml").read_text() for name in ("bgemm", "qgemm", "strip")},
}
"""By the name of the source."""


def source(name: str) -> str:
    return (SOURCES / f"{name}.c").read_text()


def compiler() -> str:
    return required_tool(
        "powerpc64le-linux-gnu-gcc-12", "powerpc64le-linux-gnu-gcc", package="gcc-12-powerpc64le-linux-gnu"
    )


def compiled(text: str, folder: Path, *flags: str, output: str = "kernel.o") -> Path:
    """Compile a C text to an object file, or with ``-S`` to assembler text."""
    (folder / "kernel.c").write_text(text)
    kind = [] if "-S" in flags else ["-c"]
    command = [compiler(), "-mcpu=power10", *(flags or ("-O2",)), *kind, "-o", output, "kernel.c"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / output


def verified(kernel: Path, contract: str, **sizes: int) -> Verification:
    path = kernel.with_suffix(".toml")
    path.write_text(filled(contract, sizes))
    return verify(kernel, path)


def filled(contract: str, sizes: Mapping[str, int]) -> str:
    for name, value in sizes.items():
        contract = contract.replace("{" + name + "}", str(value))
    return contract


def messages(found: Verification) -> str:
    return "\n".join(str(finding) for finding in found.result.findings)


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
{declaration}
int main(void)
{{
    static const long sizes[] = {{{sizes}}};
    void *arrays[{count}];
    for (int each = 0; each < {count}; each++) {{
        arrays[each] = aligned_alloc(256, (sizes[each] + 255) / 256 * 256);
        if (fread(arrays[each], 1, sizes[each], stdin) != (size_t)sizes[each])
            return 1;
    }}
    {call};
    for (int each = 0; each < {count}; each++)
        fwrite(arrays[each], 1, sizes[each], stdout);
    return 0;
}}
"""


def run_under_qemu(
    kernel: Path, declaration: str, call: str, arrays: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    """Call a compiled function on arrays under QEMU; returns what they hold afterwards."""
    sizes = ", ".join(str(array.nbytes) for array in arrays)
    text = DRIVER.format(declaration=declaration, sizes=sizes, count=len(arrays), call=call)
    (kernel.parent / "driver.c").write_text(text)
    program = kernel.parent / "driver"
    subprocess.run(
        [compiler(), "-mcpu=power10", "-O1", "-static", "-o", program, "driver.c", kernel],
        cwd=kernel.parent,
        check=True,
    )
    data = run_on_power10(program, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
    found, at = [], 0
    for array in arrays:
        found.append(np.frombuffer(data[at : at + array.nbytes], dtype=array.dtype).reshape(array.shape))
        at += array.nbytes
    return found
