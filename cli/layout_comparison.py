"""``mmaproof layout --against``: somebody's layout beside the specified one."""

from __future__ import annotations

from pathlib import Path

from ..spec.errors import InputError
from ..spec.text_files import read_text
from .exit_codes import ExitCode
from .output import print_json, say

COMPARISON_SCHEMA = 1

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
        named = {"instr": instruction, "operand": operand, "target": target, "against": against}
        print_json({"schema": COMPARISON_SCHEMA, **named, **found.document()})
    else:
        first, *others = found.lines()
        say(first, "bold")
        for line in others:
            say(f"  {line}")
    return ExitCode.HOLDS if found.equal else ExitCode.FAILS
