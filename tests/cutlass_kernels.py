"""Kernels of CUTLASS's headers, instantiated by us, and their contracts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


BUILDS: Mapping[str, Mapping[str, Any]] = json.loads((SOURCES / "kernels.json").read_text(encoding="utf-8"))


def stored(name: str) -> Build:
    """Return a kernel as it was compiled; see ``kernels/cutlass/generate.py``."""
    return Build((SOURCES / f"{name}_sm80.ptx").read_text(encoding="utf-8"), **BUILDS[name])


def contract(
    built: Build, parameters: str, sizes: Mapping[str, int], formula: str, requires: Sequence[str] = ()
) -> str:
    """Return a contract under conditions on its inputs; without a formula it is about memory."""
    lines = [
        '[kernel]\nisa = "ptx"\n[launch]',
        f"grid = {list(built.grid)}\nblock = {list(built.block)}\ndynamic_shared = {built.dynamic_shared}",
        "[sizes]",
        *(f"{name} = {size}" for name, size in sizes.items()),
        parameters,
    ]
    if formula:
        lines += [f"[requires]\nconditions = {json.dumps(list(requires))}"] if requires else []
        lines.append(f'[ensures]\nformula = "{formula}"')
    return "\n".join([*lines, ""])


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
