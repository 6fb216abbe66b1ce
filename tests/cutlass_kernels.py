"""Kernels of CUTLASS's headers, compiled where these and nvcc are installed, and their contracts."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "kernels" / "cutlass"


@dataclass(frozen=True)
class Build:
    """A compiled kernel, and how its program on the host launches it.

    Attributes
    ----------
    ptx : str
        Its text.
    words : sequence of int
        The structure that it is passed, in words of 32 bits; none of a kernel that takes no structure.
    grid, block : sequence of int
        Extents.
    dynamic_shared : int
        Bytes.
    """

    ptx: str
    words: Sequence[int]
    grid: Sequence[int]
    block: Sequence[int]
    dynamic_shared: int


def headers() -> Path:
    """Return the folder of CUTLASS's headers; skip where PyPI's nvidia-cutlass or nvcc is not installed."""
    found = importlib.util.find_spec("cutlass_library")
    if found is None or found.origin is None:
        pytest.skip("CUTLASS's headers are not installed (nvidia-cutlass)")
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed (CUDA 13)")
    return Path(found.origin).parent / "source" / "include"


def build(name: str, folder: Path) -> Build:
    """Compile a source to PTX and to a program, which prints how the kernel is launched."""
    options = ["-std=c++17", "-arch=sm_80", "--expt-relaxed-constexpr", "-I", str(headers())]
    kept = ["-keep", "-keep-dir", str(folder), "-o", str(folder / name)]
    command = ["nvcc", *options, *kept, str(SOURCES / f"{name}.cu")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = subprocess.run([folder / name], capture_output=True, text=True, check=True).stdout
    words, launch = ([int(word) for word in line.split()] for line in told.splitlines())
    return Build((folder / f"{name}.ptx").read_text(), words, launch[:3], launch[3:6], launch[6])


def contract(built: Build, parameters: str, sizes: Mapping[str, int], formula: str) -> str:
    """Return a contract; without a formula it is about memory."""
    lines = [
        '[kernel]\nisa = "ptx"\n[launch]',
        f"grid = {list(built.grid)}\nblock = {list(built.block)}\ndynamic_shared = {built.dynamic_shared}",
        "[sizes]",
        *(f"{name} = {size}" for name, size in sizes.items()),
        parameters,
    ]
    return "\n".join([*lines, *([f'[ensures]\nformula = "{formula}"'] if formula else []), ""])


def structure(words: Sequence[int], arrays: Mapping[int, str], alpha: int | None) -> str:
    """Return the parameter of a structure that is given by its words.

    Parameters
    ----------
    words : sequence of int
        Its contents; the n-th array lies at address n·2²⁸.
    arrays : mapping of int to str
        Keys of the field, by the number of the array.
    alpha : int, optional
        The word that is any f32.
    """
    fields, index = [], 0
    while index < len(words):
        number, rest = divmod(words[index], 1 << 28)
        offset = f"[[param.fields]]\noffset = {4 * index}\n"
        if not rest and number in arrays and words[index + 1] == 0:
            fields.append(f"{offset}{arrays[number]}")
            index += 1
        elif index == alpha:
            fields.append(f'{offset}name = "alpha"\ntype = "f32"')
        else:
            fields.append(f'{offset}name = "w{index}"\ntype = "u32"\nvalue = {words[index]}')
        index += 1
    return "\n".join([f'[[param]]\nname = "parameters"\nsize = {4 * len(words)}', *fields])


def array(name: str, kind: str, shape: str, **keys: str) -> str:
    """Return the keys of an array."""
    more = "".join(f'\n{key} = "{value}"' for key, value in keys.items())
    return f'name = "{name}"\ntype = "{kind}"\nshape = {shape}{more}'
