"""``mmaproof recheck``: apply the steps of a certificate again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .budget import doing
from .exit_codes import ExitCode
from .output import say


def recheck(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate that `mmaproof verify` wrote.")],
    kernel: Annotated[
        Path | None, typer.Option(metavar="KERNEL", help="The certificate must be of this kernel.")
    ] = None,
    contract: Annotated[
        Path | None, typer.Option(metavar="C.toml", help="The certificate must be of this contract.")
    ] = None,
) -> ExitCode:
    """Check a certificate without the engine: every step is an instance of a rule, all sides are equal.

    The status is 0 where everything is rechecked, 3 where some of the verdict is not, which is named, and 1
    where the certificate is wrong.
    """
    from ..api import kernels
    from ..refinement.recheck.document import RefusedError

    doing(f"rechecking {file}")
    try:
        found = kernels.recheck(file, kernel=kernel, contract=contract)
    except RefusedError as reason:
        say(f"refused: {reason}", "bold red")
        return ExitCode.FAILS
    words = {
        "identical": "the identical term",
        "ring": "equal modulo a power of two",
        "reals": "equal over the reals",
    }
    for relation, count in found.elements.items():
        print(f"{count:,} elements: {words[relation]}")
    for row, count in sorted(found.rows.items()):
        print(f"{count:,} instances of {row}")
    for each in found.supposed:
        print(f"supposed: {each}")
    print(f"a wrong certificate passes with a probability of at most {found.probability:.1g}")
    say(str(found), "yellow" if found.open else "bold green")
    return ExitCode.UNDECIDED if found.open else ExitCode.HOLDS
