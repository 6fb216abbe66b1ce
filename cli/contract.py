"""``mmaproof contract``: a contract to complete, written from what a kernel's code tells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .output import say_lines


def contract(
    kernel: Annotated[Path, typer.Argument(metavar="KERNEL", help="The kernel's file, such as a .ptx.")],
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="The kernel, where the file has several.")
    ] = None,
    from_triton: Annotated[
        Path | None,
        typer.Option(
            metavar="META.json",
            help="What Triton's cache keeps beside the PTX: tells block, shared and scratch memory.",
        ),
    ] = None,
) -> ExitCode:
    """Write a contract to complete: parameters in order, with what the code tells of them.

    What remains to be said is marked. As it is, `verify` takes it, and looks at memory alone.
    """
    from ..api import kernels

    say_lines(kernels.contract(kernel, entry, from_triton=from_triton))
    return ExitCode.HOLDS
