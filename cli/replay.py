"""``mmaproof replay``: execute a counterexample again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .budget import doing
from .exit_codes import ExitCode
from .output import note, say, say_lines

if TYPE_CHECKING:
    from ..refinement.kernel_replay import Replayed


def replay(
    file: Annotated[
        Path, typer.Argument(metavar="CEX.json", help="A file that `mmaproof check` or `verify` saved.")
    ],
) -> ExitCode:
    """Execute a counterexample again with numpy, and print both sides.

    The status is 1 when the claim fails on these inputs (so the counterexample is confirmed), 0 when it
    holds on them.
    """
    from ..refinement import kernel_replay

    doing(f"executing {file} again")
    document = kernel_replay.document_of_kernel(file)
    if document is not None:
        return _replay_kernel(kernel_replay.replay(file, document))
    from ..proofs.counterexample_files import reexecute
    from ..reports.counterexample_text import counterexample_text

    again = reexecute(file)
    say(again.obligation.id, "bold")
    say_lines(f"{again.obligation.statement}\n\n{counterexample_text(again.found)}\n")
    print()
    if not again.confirms_record:
        note("the difference differs from the one recorded in the file")
    if not again.found.replays:
        say("the claim holds on these inputs: the counterexample does not replay", "green")
        return ExitCode.HOLDS
    pinned = " (expected: a pinned non-theorem)" if again.obligation.expect == "refuted" else ""
    say(f"the claim does not hold on these inputs{pinned}", "bold red" if not pinned else "")
    return ExitCode.FAILS


def _replay_kernel(again: Replayed) -> ExitCode:
    from ..reports.kernel_counterexample_text import difference_text, input_lines

    document = again.document
    reference = document.get("against") or document["contract"]
    say(f"{document['kernel']} and {reference}, on these inputs:", "bold")
    say_lines(input_lines(document["inputs"]), indent=2)
    if again.difference is None:
        say("both give the same", "green")
        return ExitCode.HOLDS
    found = again.difference
    say(
        difference_text(found.output, document["kernel"], found.kernel, reference, found.contract), "bold red"
    )
    return ExitCode.FAILS
