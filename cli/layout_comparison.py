"""``mmaproof layout --against``: somebody's layout beside the specified one."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

from ..spec.errors import InputError
from ..spec.text_files import read_text
from .exit_codes import ExitCode
from .output import print_json, say


class ComparedLayout(TypedDict):
    """What `layout --against --format json` prints, with the fields of the `Comparison`.

    Attributes
    ----------
    schema : int
        Version of the document.
    instr, operand : str
        What was asked about.
    target : str or None
        For which processor.
    against : str
        The layout, or @FILE, as it was given.
    equal : bool
        Whether it is the specified one.
    """

    schema: Literal[1]
    instr: str
    operand: str
    target: str | None
    against: str
    equal: bool


FILE_MARK = "@"
"""What a file's name follows in place of a layout."""


def compare(instruction: str, operand: str, target: str | None, against: str, output: str) -> ExitCode:
    """Print how a layout, or the one in ``@FILE``, compares with an operand's.

    Raises
    ------
    InputError
        If the file or the layout can't be read, or there is no such output.
    UnsupportedError
        If the instruction set does not specify the layout.
    """
    if output not in ("table", "json"):
        raise InputError(f"a comparison is written as table or json, not as {output}")
    from ..spec.foreign_layouts.against import compare_layout

    text = read_text(Path(against[1:])) if against.startswith(FILE_MARK) else against
    found = compare_layout(instruction, operand, text, target)
    if output == "json":
        document: ComparedLayout = {
            "schema": 1,
            "instr": instruction,
            "operand": operand,
            "target": target,
            "against": against,
            "equal": found.equal,
        }
        print_json({**document, **found.document()})
    else:
        first, *others = found.lines()
        say(first, "bold")
        for line in others:
            say(f"  {line}")
    return ExitCode.HOLDS if found.equal else ExitCode.FAILS
