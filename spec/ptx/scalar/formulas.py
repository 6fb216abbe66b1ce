"""The algebra of words on text: a row's meaning, printed as mathematics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ...formats import IntegerFormat
from ...open_results import OpenResult
from ...word_algebra import NOT_A, A, B, C, Control, Field, Fill, Part, Pieces, piece_width
from .rows import Form

_TABLES = {
    A & B: "{0} & {1}",
    A | B: "{0} | {1}",
    A ^ B: "{0} ^ {1}",
    NOT_A: "~{0}",
    A | B & C: "{0} | {1} & {2}",
}
_SIGNS = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}

_BINDING = set("+-·&|^<>=≠≤≥? /")


def _within(text: str) -> str:
    """Put text in parentheses where it has an operator outside of brackets."""
    depth = 0
    for character in text:
        depth += (character in "([{⟨") - (character in ")]}⟩")
        if not depth and character in _BINDING:
            return f"({text})"
    return text


class TextWords:
    """Writes a meaning; see `WordAlgebra` for what each operation means.

    Attributes
    ----------
    lines : list of str
        What there is to say besides.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def constant(self, number: int, width: int) -> str:
        """Write a number."""
        return str(number)

    def bitwise(self, table: int, width: int, *words: str) -> str:
        """Write an operator, or the table."""
        if table in _TABLES:
            return _TABLES[table].format(*map(_within, words))
        return f"lop3({', '.join(words)}, {table:#04x})"

    def add(self, width: int, *words: str) -> str:
        """Write a sum modulo a power of two."""
        terms = "".join(f" - {word[1:]}" if word.startswith("-") else f" + {word}" for word in words)
        return f"({terms.removeprefix(' + ')}) mod 2^{width}"

    def multiply(self, width: int, a: str, b: str, *addends: str) -> str:
        """Write a product modulo a power of two."""
        return self.add(width, f"{_within(a)}·{_within(b)}", *addends)

    def negate(self, width: int, a: str) -> str:
        """Write a sign."""
        return f"-{_within(a)}"

    def high_product(self, fmt: IntegerFormat, a: str, b: str) -> str:
        """Write the upper half."""
        return f"⌊{fmt}({a})·{fmt}({b}) / 2^{fmt.bits}⌋ mod 2^{fmt.bits}"

    def quotient(self, fmt: IntegerFormat, a: str, b: str) -> str:
        """Write a quotient."""
        return f"trunc({fmt}({a}) / {fmt}({b}))"

    def remainder(self, fmt: IntegerFormat, a: str, b: str) -> str:
        """Write a remainder."""
        return f"{fmt}({a}) - {fmt}({b})·trunc({fmt}({a}) / {fmt}({b}))"

    def extremum(self, fmt: IntegerFormat, which: str, a: str, b: str) -> str:
        """Write a maximum or minimum."""
        return f"{which}_{fmt}({a}, {b})"

    def compare(self, fmt: IntegerFormat, relation: str, a: str, b: str) -> str:
        """Write a comparison."""
        return f"[{fmt}({a}) {_SIGNS[relation]} {fmt}({b})]"

    def choose(self, condition: str, then: str, otherwise: str) -> str:
        """Write a choice."""
        return f"{_within(condition)} ? {_within(then)} : {_within(otherwise)}"

    def clamp(self, result: IntegerFormat, fmt: IntegerFormat, a: str) -> str:
        """Write a clamp."""
        return f"clamp_{result}({a})"

    def extend(self, width: int, fmt: IntegerFormat, a: str) -> str:
        """Write what a word is read as."""
        return f"{fmt}({a})"

    def move(self, pieces: Pieces, *sources: str) -> str:
        """Write pieces, most significant first."""
        parts = [_piece(piece, sources) for piece in reversed(pieces) if piece.width]
        return parts[0] if len(parts) == 1 else f"{{{', '.join(parts)}}}"

    def steer(self, plan: Callable[..., Pieces], controls: Sequence[Control], *sources: str) -> str:
        """Write what some numbers of the controls give."""
        names = [chr(ord("m") + index) for index in range(len(controls))]
        for name, (word, mask, limit) in zip(names, controls, strict=True):
            cut = word if mask == 0xFFFFFFFF else f"{word} & {mask:#x}"
            self.lines.append(f"{name} = {cut}" if mask <= limit else f"{name} = min({cut}, {limit})")
        some = [_examples(limit) for _, _, limit in controls]
        for numbers in product(*some):
            at = ", ".join(f"{name} = {number}" for name, number in zip(names, numbers, strict=True))
            self.lines.append(f"  at {at}: {self.move(plan(*numbers), *sources)}")
        return f"moved({', '.join([*sources, *names])})"

    def pick(self, parts: Sequence[Part], selector: str, *sources: str) -> str:
        """Write what each number picks."""
        names, low = [], 0
        for place, part in enumerate(parts):
            options = "; ".join(
                f"{number}: {_piece(option, sources)}" for number, option in enumerate(part.options)
            )
            bits = f"{selector}[{part.low + part.width - 1}:{part.low}]"
            self.lines.append(f"p{place} by {bits} of {options}")
            names.append(f"p{place}")
            low += piece_width(part.options[0])
        return f"{{{', '.join(reversed(names))}}}"

    def shift(self, plan: Callable[[int], Pieces], width: int, word: str, amount: str) -> str:
        """Write what some amounts give."""
        return self.steer(plan, [Control(amount, 0xFFFFFFFF, width)], word)

    def count_ones(self, width: int, a: str) -> str:
        """Write a count."""
        return f"ones({a})"

    def leading_zeros(self, width: int, a: str) -> str:
        """Write a count."""
        return f"leading_zeros({a})"

    def dot(
        self, result: IntegerFormat, left: Sequence[Field], right: Sequence[Field],
        formats: tuple[IntegerFormat, IntegerFormat], a: str, b: str, c: str,
    ) -> str:  # fmt: skip
        """Write a sum of products."""
        products = (
            f"{formats[0]}({_piece(x, [a])})·{formats[1]}({_piece(y, [b])})"
            for x, y in zip(left, right, strict=True)
        )
        return self.add(result.bits, c, *products)

    def leave_open(self, result: str, of: OpenResult, where: Callable[..., Any], *operands: str) -> str:
        """Say what is left open."""
        note = f"left open: {of.bits} ({of.source})"
        if note not in self.lines:
            self.lines.append(note)
        return result


def _piece(piece: Field | Fill, sources: Sequence[str]) -> str:
    if isinstance(piece, Fill):
        return f"0 × {piece.width}" if not piece.value else f"{piece.value:#x}"
    high = piece.low + piece.width - 1
    bits = f"{high}:{piece.low}" if piece.width > 1 else str(high)
    field = f"{_within(sources[piece.source])}[{bits}]"
    return f"sign{piece.extended}({field})" if piece.extended else field


def _examples(limit: int) -> tuple[int, ...]:
    return (0, 5, limit) if limit < 1 << 16 else (0, 5)


def formulas(form: Form) -> tuple[str, ...]:
    """Return what a form computes, line by line; what the lines say of steered bits are examples."""
    if form.row.meaning is None:
        return ()
    alg = TextWords()
    results, sources = form.places
    names = [0xCA if place.immediate else _spelled(place.name) for place in sources]
    computed = form.results(alg, names)
    lines = [f"{_spelled(place.name)} = {word}" for place, word in zip(results, computed, strict=True)]
    return (*lines, *alg.lines)


def _spelled(name: str) -> str:
    return "carry" if name == "CC.CF" else name
