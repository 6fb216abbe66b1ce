"""Kernels given as source files: options of their compiler, and the command that compiled them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .budget import doing
from .output import note

Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="T", help="For source files: the target processor, such as sm_90a, power10."
    ),
]
Compiler = Annotated[
    str | None,
    typer.Option(
        "--compiler", metavar="PROGRAM", help="For source files: the compiler; default: nvcc or gcc."
    ),
]
Flags = Annotated[
    str, typer.Option("--flags", metavar="ARGS", help="For source files: more compiler arguments.")
]


def kernel_file(
    kernel: Path, target: str | None, compiler: str | None, flags: str, apart_from: Path | None = None
) -> Path:
    """Return the file to be verified: that of a source file is compiled first, and the command printed.

    Raises
    ------
    InputError
        If it can't be compiled, or options of compilers are given for what is no source file.
    """
    from ..api import compiling
    from ..spec.errors import InputError

    if not compiling.is_source(kernel):
        if given := [
            name for name, value in (("target", target), ("compiler", compiler), ("flags", flags)) if value
        ]:
            suffixes = ", ".join((*compiling.CUDA, *compiling.C))
            raise InputError(f"--{given[0]} is for source files ({suffixes})", str(kernel))
        return kernel
    doing(f"compiling {kernel}")
    made = compiling.compiled(
        kernel, target, compiler=compiler, flags=shlex.split(flags), apart_from=apart_from
    )
    note(f"compiled by {made.command}")
    return made.path
