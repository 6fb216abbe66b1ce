"""``mmaproof torch``: compare a module of PyTorch with a reference, its launches recorded and verified."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import files
from .budget import doing
from .exit_codes import ExitCode
from .output import say

if TYPE_CHECKING:
    from ..api.torch.outcome import TorchResult

MODES = ("train", "eval")


def torch(
    problem: Annotated[
        Path, typer.Argument(metavar="PROBLEM.py", help="Model, get_inputs() and get_init_inputs().")
    ],
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION.py", help="ModelNew, which launches kernels.")
    ],
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N", help="Value of a top-level number of PROBLEM.py; default: a smaller one."
        ),
    ] = None,
    requires: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="A condition on inputs, as in contracts.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="train|eval", help="Mode of the modules; default: as constructed.")
    ] = None,
    target: Annotated[int, typer.Option(metavar="SM", help="The compute capability to compile for.")] = 80,
    memory_only: Annotated[
        bool, typer.Option("--memory-only", help="Check memory accesses of launches only.")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to keep the contract and the kernels in.")
    ] = None,
    own_seconds: Annotated[
        float,
        typer.Option(
            metavar="S", min=0, help="Time limit of runs on numbers at the problem's own sizes; 0 for none."
        ),
    ] = 20,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
) -> ExitCode:
    """Verify that a module computes what a reference computes, for all data, without a GPU.

    Both files are executed, in processes of their own with limits on time and memory: their host code runs,
    their kernels do not. Launches are recorded and verified, the reference is read as formulas.
    """
    from ..api.torch.untrusted import Limits
    from ..api.torch.verification import verify
    from ..spec.errors import InputError

    if mode not in (None, *MODES):
        raise InputError(f"--mode is {' or '.join(MODES)}, not {mode}")
    doing(f"recording {solution}")
    result = verify(
        problem,
        solution,
        sizes=_sizes(size) if size else None,
        requires=requires or (),
        mode=mode,
        target=target,
        memory_only=memory_only,
        limits=Limits(own=own_seconds),
        keep=keep,
    )
    if json is not None:
        text = json_format.dumps(result.document(), indent=1) + "\n"
        with files.result_file(json) as stream:
            stream.write(text.encode())
    if json != Path("-"):
        _print(result)
    return {
        "verified": ExitCode.HOLDS,
        "safe": ExitCode.HOLDS,
        "refuted": ExitCode.FAILS,
    }.get(result.verdict, ExitCode.UNDECIDED)


def _sizes(given: list[str]) -> dict[str, int]:
    """Read numbers for names."""
    from ..spec.errors import InputError

    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier() or not value.lstrip("-").isdigit():
            raise InputError(f"--size is NAME=N, not {each!r}")
        found[name] = int(value)
    return found


def _print(result: TorchResult) -> None:
    say(f"{result.verdict}{result.scope}: {result.candidate}")
    say(f"  {result.claim}")
    for finding in result.findings:
        say(f"  {finding}")
    for label, texts in (("if", result.hypotheses), ("note", result.notes)):
        for text in texts:
            say(f"  {label}: {text}")
    if result.bound:
        say(f"  {result.bound}")
