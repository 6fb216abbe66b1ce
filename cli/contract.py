"""``mmaproof contract``: a contract to complete, written from what a kernel's code tells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .output import say_lines
from .sources import Compiler, Flags, Target, kernel_file


def contract(
    kernel: Annotated[
        Path, typer.Argument(metavar="KERNEL", help="The kernel: .ptx, .o, .s, .pto, or .cu, .c to compile.")
    ],
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the kernel, if the file has several.")
    ] = None,
    from_triton: Annotated[
        Path | None,
        typer.Option(
            metavar="META.json",
            help="Triton's metadata beside the PTX in its cache: block, shared and scratch memory.",
        ),
    ] = None,
    target: Target = None,
    compiler: Compiler = None,
    flags: Flags = "",
) -> ExitCode:
    """Write a contract to complete: parameters in order, with what the code tells of them.

    What remains to be said is marked `fill in`; until it is said, `verify` decides nothing. Without [ensures]
    it looks at memory alone. A source file (.cu; .c, .cc, .cpp for Power) is compiled first.
    """
    from ..api import kernels

    compiled = kernel_file(kernel, target, compiler, flags)
    source = kernel if compiled != kernel else None
    say_lines(kernels.contract(compiled, entry, from_triton=from_triton, source=source))
    return ExitCode.HOLDS
