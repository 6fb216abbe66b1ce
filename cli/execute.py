"""``mmaproof run``: execute the specification on arrays in a file, on numbers that are written, or drawn."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..spec.errors import InputError
from . import files
from .budget import doing
from .exit_codes import ExitCode
from .operand_values import drawn_arrays, read_archive
from .output import WIDE, print_table, say, say_lines
from .paging import NoPager, paged

if TYPE_CHECKING:
    from ..reports.execution_trace import Trace
    from ..spec.algebra import Array


def run(
    instruction: Annotated[
        str | None, typer.Argument(metavar="INSTR", help="With or without operands.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="IN.npz|NAME=NUMBERS...", help="The operands: a file, or x=1,2,3,4."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="OUT.npz", help="Write the results to this file instead of printing them."),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="Seed for random values of operands that are not given."),
    ] = None,
    registers: Annotated[
        bool, typer.Option("--registers", help="Arrays are register images, bytes in ISA order.")
    ] = False,
    rounding: Annotated[
        str | None,
        typer.Option(
            help="Power: nearest-even (default), toward-zero, upward or downward (FPSCR.RN = 0..3)."
        ),
    ] = None,
    choice: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A preset, or POINT=OPTION; may be repeated.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The processor, where results depend on it: A5 of PTO, gfx90a of MFMA.")
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(metavar="D[I,J]", help="Show how one element is computed: terms, alignment, roundings."),
    ] = None,
    list_choices: Annotated[bool, typer.Option("--list-choices", help="Print the open points.")] = False,
    no_pager: NoPager = False,
) -> ExitCode:
    """Execute the specification of one instruction on real data.

    Numbers are given by name, all of an operand in row-major order or one for all: x=1,2,3,4 y=0.5 acc=0.
    Without --out the results are printed.

    Power: IN.npz holds x (..., 4, k), y (..., 4 or 2, k) and acc (..., 4, 4 or 2) as numbers, or x_bits,
    y_bits, acc_bits as encodings, in ISA element order, batch axes first. With --registers: x, y uint8
    (..., 16) (an f64 pair 32), acc uint8 (..., 64), and vsr uint8 (..., 4, 16) for the accumulator moves.
    Results: acc, acc_bits, and saturated for saturating forms.

    PTX: a (..., M, K), b (..., K, N), c (..., M, N), scale_a, scale_b, metadata, or a_bits, ...; with
    --registers uint32 (..., 32, registers). Results: d and d_bits. Matrix moves: memory uint8, addresses.
    MFMA: a, b and c likewise, with an axis of blocks before the rows where there are several, and 64 lanes.
    """
    if list_choices:
        with paged(wanted=not no_pager):
            return _print_choices(instruction)
    given = source or []
    if instruction is None or (not given and random is None):
        raise InputError("run takes INSTR and IN.npz, NAME=NUMBERS or --random SEED (or --list-choices)")
    written = [text for text in given if "=" in text]
    if len(written) != len(given) and (len(given) != 1 or random is not None):
        raise InputError("the operands are one file, or NAME=NUMBERS, with --random for others")
    from ..api import instructions
    from ..reports.execution_trace import Tracer

    tracer = None if trace is None else Tracer(instruction, trace)
    doing(f"executing {instruction}")
    results = instructions.run(
        instruction,
        read_archive(Path(given[0])) if given and not written else drawn_arrays(written, random),
        registers=registers,
        rounding=rounding,
        choices=choice or [],
        target=target,
        observer=tracer,
    )
    with paged(wanted=not no_pager):
        if tracer is not None:
            _print_trace(tracer.trace)
        elif out is None:
            _print(results)
    if out is None:
        return ExitCode.HOLDS
    _write(out, results)
    for name, array in results.items():
        say(f"{name} {array.dtype} {array.shape}")
    return ExitCode.HOLDS


def _print(results: dict[str, Array]) -> None:
    """Print results, as numbers where there are both numbers and encodings."""
    import numpy as np

    for name, array in results.items():
        if name.removesuffix("_bits") in results.keys() - {name}:
            continue
        say(f"{name}: {array.dtype} {array.shape}", "bold")
        say_lines(np.array2string(array, threshold=sys.maxsize, max_line_width=WIDE), indent=2)


def _print_trace(trace: Trace) -> None:
    if not sys.stdout.isatty():
        say_lines(str(trace))
        return
    say(f"{trace.element} of {trace.instruction}", "bold")
    for step in trace.steps:
        print()
        say(step.operation)
        print_table(step.titles, step.rows)
    say(trace.result, "bold")


def _print_choices(instruction: str | None) -> ExitCode:
    """Print what is open: for an instruction, in its instruction set."""
    from ..spec.instruction_set import NAMES, instruction_set, of_instruction

    sets = [instruction_set(n) for n in NAMES] if instruction is None else [of_instruction(instruction)]
    rows = [
        [isa.name, f"{point.name}={option}" + " (default)" * (option == point.default), meaning, point.source]
        for isa in sets
        for point in isa.open_points
        for option, meaning in point.options
    ]
    if not rows:
        say(f"{sets[0].name} leaves nothing open")
        return ExitCode.HOLDS
    print_table(["isa", "choice", "meaning", "source"], rows)
    print()
    presets = [
        [
            isa.name,
            name,
            ", ".join(f"{point.replace('_', '-')}={option}" for point, option in vars(choices).items()),
        ]
        for isa in sets
        for name, choices in isa.presets.items()
    ]
    print_table(["isa", "preset", "stands for"], presets)
    return ExitCode.HOLDS


def _write(path: Path, results: dict[str, Array]) -> None:
    import numpy as np

    archive = io.BytesIO()  # a pipe or a device is no place to go back in
    np.savez(archive, allow_pickle=False, **results)
    with files.result_file(path) as stream:
        stream.write(archive.getbuffer())
