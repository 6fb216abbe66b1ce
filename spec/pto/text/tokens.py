"""Where the statements of a PTO text begin, and what sort each token is.

Statements end where the next one begins: MLIR has no mark between them, and an operation that is not
known has no grammar either. What begins one is a name with a dot, ``%results =``, a directive, a label,
or a known name, at the first place of a line or behind something that is complete.

Source: PTO IR manual; MLIR language reference (operations, regions, attribute dictionaries).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token

from ..catalogue import OPERATIONS, plain_name
from .generic_form import ALLOCATION, CONSTANT
from .wording import fail

DEEPEST = 64
"""How deep brackets and regions may be nested."""

_COMMENT = re.compile(
    r"""
    (?P<string>"(?:[^"\\\n]|\\.)*")
    |//[^\n]*                                             # MLIR
    |(?m:^)[ \t]*;[^\n]*                                  # listings of pages
    |(?m:^)[ \t]*\#(?![A-Za-z_][\w$.]*(?:\(|[ \t]*(?:[<=,})>\]]|$)))[^\n]*   # the same, no attribute
    |(?<![\w$.])\#(?=[\s\#]|\Z)[^\n]*
    """,
    re.VERBOSE | re.MULTILINE | re.ASCII,
)
_WORD = re.compile(r"[A-Za-z_]")
_TERMINATORS = ("return", "func.return", "scf.yield")
_BARE = frozenset({"return", "call", "module", "br", "cond_br", *OPERATIONS})
_CONTINUES = frozenset({"to", "step", "ins", "outs", "attributes", "else", "iter_args", "into", "from"})
_DIALECTS = ("pto.", "scf.", "arith.", "func.")
_BEFORE_VARIABLES = (",", "unsigned", ".const", "scf.for", "affine.for")
_WITH_REGION = ("module", "func.func", "scf.for", "scf.if")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def without_comments(text: str) -> str:
    """Return text of the same extent with blanks for its comments."""
    return _COMMENT.sub(lambda found: found[0] if found["string"] else " " * len(found[0]), text)


@dataclass
class _Frame:
    """What an open bracket encloses.

    Attributes
    ----------
    opening : Token, optional
        The bracket; None for the file.
    block : bool
        Whether it encloses statements.
    raw : bool
        Whether what it encloses belongs to a statement without a grammar.
    head : int
        Where in the text the name of the present statement's operation stands; negative before the first.
    has_region : bool
        Whether a region of the present statement was opened.
    """

    opening: Token | None
    block: bool
    raw: bool = False
    head: int = -2
    has_region: bool = False


class Statements:
    """The step between lexer and parser (a ``postlex`` of lark)."""

    always_accept = ("LABEL", "SHAPE", "MARK")  # no rule names these: they only become ATOM

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens of a text, marked as `pto.lark` says.

        Raises
        ------
        InputError
            If brackets do not match or are nested too deep.
        """
        tokens = _without_aliases(list(stream))
        yield from _Marker(tokens).marked()


class _Marker:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._frames = [_Frame(None, block=True)]

    def marked(self) -> Iterator[Token]:
        for at, token in enumerate(self._tokens):
            frame = self._frames[-1]
            if frame.block and self._begins(at, frame):
                frame.head = self._head(at)
                frame.has_region = False
                frame.raw = self._sort(frame.head) == "OTHER"
                yield Token("NEXT", "", line=token.line, column=token.column)
            if token.value in _CLOSING:
                yield self._open(at, frame)
            elif token.value in (")", "]", "}"):
                self._close(token)
                yield token
            elif frame.block and at == frame.head:
                yield _as(token, self._sort(at))
            elif frame.raw and not (frame.block and at < frame.head):
                yield _as(token, "ATOM")
            elif not frame.block and frame.opening == "{" and _is_word(token):
                yield _as(token, "WORD")
            else:
                yield token
        if (opening := self._frames[-1].opening) is not None:
            fail(f"expected {_CLOSING[opening]!r} for this {opening.value!r}, found the end", opening)

    def _open(self, at: int, frame: _Frame) -> Token:
        token = self._tokens[at]
        if len(self._frames) > DEEPEST:
            fail(f"brackets and regions may be nested {DEEPEST} deep, not deeper", token)
        region = token == "{" and self._opens_region(at, frame)
        frame.has_region |= region
        self._frames.append(_Frame(token, block=region, raw=frame.raw and not region))
        return _as(token, "_REGION") if region else token

    def _close(self, token: Token) -> None:
        opening = self._frames[-1].opening
        if opening is None:
            fail(f"found {token.value!r}, which closes nothing", token)
        if _CLOSING[opening] != token:
            fail(
                f"expected {_CLOSING[opening]!r} for the {opening.value!r} of line {opening.line}, "
                f"column {opening.column}; found {token.value!r}",
                token,
            )
        self._frames.pop()

    def _opens_region(self, at: int, frame: _Frame) -> bool:
        token, before, first = self._tokens[at], self._at(at - 1), self._at(at + 1)
        if before == "attributes" or first is None or not (frame.block or frame.raw):
            return False
        if frame.block and frame.head >= 0 and self._at(frame.head) in _WITH_REGION:
            return before == "else" or not frame.has_region
        if first == "}":
            return before == "else"
        if first.type == "STRING":
            return self._at(at + 2) == "("
        if first.type in ("SSA", "LABEL") or first in (".arg", ".const") or first in _TERMINATORS:
            return True
        if not _is_word(first) or self._at(at + 2) == "=":
            return False
        if self._at(at + 2) in (",", "}"):
            return _below(first, token)
        return "." in first or first in _BARE

    def _begins(self, at: int, frame: _Frame) -> bool:
        """Whether a statement begins at a token directly inside of a block."""
        token, before, after = self._tokens[at], self._at(at - 1), self._at(at + 1)
        if at <= frame.head:
            return False
        fresh = before in (None, ";", "{", "}") or _below(token, before)
        if token.type == "SSA":
            return before not in _BEFORE_VARIABLES and self._head(at) > at
        if token.type == "ATTRIBUTE":  # names of types are written out before
            return fresh and after == "="
        if token.type == "STRING":
            return fresh and after == "("
        if token.type == "LABEL" or token in (".arg", ".const"):
            return fresh
        if not _is_word(token) or after == "=":
            return False
        if "." in token:
            return fresh or token.startswith(_DIALECTS)
        named = after is not None and (after.type in ("SSA", "SYMBOL")) and token not in _CONTINUES
        return fresh and (named or token in _BARE or plain_name(token) in OPERATIONS)

    def _head(self, at: int) -> int:
        """Return where the name of the operation stands that begins at a token."""
        if self._tokens[at].type != "SSA":
            return at
        end = at
        while (token := self._at(end)) is not None and token.type == "SSA":
            end += 1
            if self._at(end) == ":" and (count := self._at(end + 1)) is not None and count.type == "INTEGER":
                end += 2
            if self._at(end) != ",":
                break
            end += 1
        return end + 1 if self._at(end) == "=" else at

    def _sort(self, at: int) -> str:
        token = self._at(at)
        if token is None:
            return "OTHER"
        if token == "pto.tsync" and self._at(at + 1) != "ins":
            return "OTHER"
        if token.type == "STRING" and _is_modelled(token.strip('"')):
            return "QUOTED"
        if token.type != "WORD":
            return "OTHER" if token.type in ("STRING", "LABEL", "ATTRIBUTE") else str(token.type)
        if plain_name(token) in OPERATIONS:
            return "PREFIXED" if token.startswith("pto.") else "PLAIN"
        return "ARITHMETIC" if token.startswith("arith.") else "OTHER"

    def _at(self, at: int) -> Token | None:
        return self._tokens[at] if 0 <= at < len(self._tokens) else None


def _without_aliases(tokens: list[Token]) -> list[Token]:
    """Replace the types that ``!name = type`` defines."""
    aliases: dict[str, str] = {}
    kept: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "TYPE" and token.value in aliases:
            token = token.update(value=aliases[token.value])
        defines = token.type == "TYPE" and at + 2 < len(tokens) and tokens[at + 1] == "="
        if defines and (not kept or _below(token, kept[-1]) or kept[-1] == ";"):
            definition = tokens[at + 2]
            if definition.type not in ("TYPE", "PARAMETRIC", "WORD"):
                fail(f"expected a type for {token.value!r}, found {definition.value!r}", definition)
            aliases[token.value] = aliases.get(definition.value, definition.value)
            at += 3
            continue
        kept.append(token)
        at += 1
    return kept


def _is_modelled(name: str) -> bool:
    """Whether the generic form of an operation has a grammar."""
    return name in (ALLOCATION, CONSTANT) or (name.startswith("pto.") and plain_name(name) in OPERATIONS)


def _is_word(token: Token) -> bool:
    return token.type not in ("PARAMETRIC", "ATOM") and _WORD.match(token) is not None


def _as(token: Token, sort: str) -> Token:
    return Token.new_borrow_pos(sort, token.value, token)


def _below(token: Token, before: Token | None) -> bool:
    """Whether a token is the first of its line."""
    assert token.line is not None
    return before is None or before.end_line is None or token.line > before.end_line
