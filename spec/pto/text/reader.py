"""Reading statements by the grammar of `pto.lark`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lark import Lark, UnexpectedInput

from .expectations import explained
from .semantic_actions import SEMANTIC_ACTIONS
from .syntax import Region
from .tokens import Statements, without_comments


def read(text: str) -> Region:
    """Read statements.

    Raises
    ------
    InputError
        If the text has no such grammar; the message says where, what was found and what was expected.
    """
    text = without_comments(text)
    try:
        block = _parser().parse(text)
    except UnexpectedInput as error:
        patterns = {terminal.name: terminal.pattern.value for terminal in _parser().terminals}
        raise explained(error, text, patterns) from None
    assert isinstance(block, Region)
    return block


@cache
def _parser() -> Lark:
    """Return the parser: built at first use, and once."""
    return Lark(
        files(__package__).joinpath("pto.lark").read_text(encoding="utf-8"),
        start="block",
        parser="lalr",
        lexer="basic",
        postlex=Statements(),
        transformer=SEMANTIC_ACTIONS,
    )
