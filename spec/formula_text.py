"""How a formula is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from .formula import Formula

CHOICE, SUM, PRODUCT, ATOM = range(4)
"""How strongly an operator binds."""

Text = tuple[str, int]
"""What is written, and how strongly its outermost operator binds."""


def written(formula: Formula) -> str:
    """Write a formula in one line.

    ``sum(f, k = 0..n)`` is a sum over k. ``fold(s ← f, s = x, k = 0..n)`` is the s that is left when s, x at
    first, has become f for one k after the other; see `NOTATION` for the rest.
    """
    return _text(formula)[0]


NOTATION = (
    (
        r"\bfold\(",
        "fold(s ← f, s = x, k = 0..n): the s that is left when s, x at first, has become f for every k",
    ),
    (r"\bbits\(", "bits(x, n, w): w bits of x from bit n on, the lowest being bit 0"),
    (r"\bpack\d+\(", "packW(x, h = 0..n): a word of the x for every h, W bits apart, the first lowest"),
    (r"\bround_", "round_F(x): x rounded to F, to nearest even if nothing else is said"),
    (
        r"\bdot_add_",
        "dot_add_N_R_F(x): terms cut to multiples of 2^(E-N), 2^E the largest's; their sum rounded to F",
    ),
    (r"\bclamp_", "clamp_F(x): the number of F that is nearest to x"),
)
"""Patterns of what `written` writes, and what it means."""


def notation(lines: Sequence[str]) -> Iterator[str]:
    """Yield what is not common notation in some formulas, and what it means."""
    for pattern, meaning in NOTATION:
        if any(re.search(pattern, line) for line in lines):
            yield meaning


def _text(formula: Formula) -> Text:
    if not formula.parts:
        return formula.head, ATOM
    return _WRITERS[formula.head](*formula.parts)


def _within(formula: Formula, binds: int) -> str:
    """Write a part, in parentheses where the surroundings bind more strongly."""
    text, own = _text(formula)
    return text if own >= binds else f"({text})"


def _infix(symbol: str, parts_bind: int, binds: int) -> Callable[..., Text]:
    return lambda *parts: (symbol.join(_within(part, parts_bind) for part in parts), binds)


def _sum(first: Formula, *others: Formula) -> Text:
    text = _within(first, SUM)
    for term in others:
        text += f" − {_within(term.parts[0], PRODUCT)}" if term.head == "−" else f" + {_within(term, SUM)}"
    return text, SUM


def _integer(constant: int, *terms: Formula) -> Text:
    if not terms:
        return str(constant), ATOM if constant >= 0 else SUM
    if len(terms) == 1 and not constant and terms[0].parts[0] > 0:
        return _digits(*terms[0].parts)
    pieces = [(term.parts[0] < 0, _digits(abs(term.parts[0]), *term.parts[1:])[0]) for term in terms]
    if constant:
        first = pieces[0][0]  # a constant in front saves a leading minus sign
        pieces.insert(0 if first else len(pieces), (constant < 0, str(abs(constant))))
    text = ("−" if pieces[0][0] else "") + pieces[0][1]
    return text + "".join(f" {'−' if minus else '+'} {piece}" for minus, piece in pieces[1:]), SUM


def _digits(weight: int, base: Formula, low: int, count: int) -> Text:
    text, binds = _text(base)
    if low:
        text, binds = f"{_within(base, PRODUCT)} div {1 << low}", PRODUCT
    if count >= 0:
        text, binds = f"{text if low else _within(base, PRODUCT)} mod {1 << count}", PRODUCT
    if weight == 1:
        return text, binds
    return f"{weight}·{text if binds == ATOM else f'({text})'}", PRODUCT


def _call(name: Formula, *arguments: Formula) -> Text:
    return f"{name.head}({', '.join(_text(argument)[0] for argument in arguments)})", ATOM


def _element(name: Formula, *indices: Formula) -> Text:
    texts = [_text(index)[0] for index in indices]
    comma = ", " if any(" " in text for text in texts) else ","
    return f"{name.head}[{comma.join(texts)}]", ATOM


def _over(letter: Formula, count: int | Formula) -> str:
    last = str(count - 1) if isinstance(count, int) else f"{_within(count, SUM)}-1"
    return f"{letter.head} = 0..{last}"


def _summed(body: Formula, letter: Formula, count: int | Formula) -> Text:
    return f"sum({_text(body)[0]}, {_over(letter, count)})", ATOM


def _folded(step: Formula, state: Formula, start: Formula, letter: Formula, count: int | Formula) -> Text:
    name = state.head
    return f"fold({name} ← {_text(step)[0]}, {name} = {_text(start)[0]}, {_over(letter, count)})", ATOM


def _fields(width: int, body: Formula, letter: Formula, count: int) -> Text:
    return f"pack{width}({_text(body)[0]}, {_over(letter, count)})", ATOM


def _choice(then: Formula, condition: Formula, otherwise: Formula) -> Text:
    return f"{_within(then, SUM)} if {_text(condition)[0]} else {_within(otherwise, SUM)}", CHOICE


_WRITERS: Mapping[str, Callable[..., Text]] = MappingProxyType(
    {
        "+": _sum,
        "·": _infix("·", PRODUCT, PRODUCT),
        "∧": _infix(" ∧ ", PRODUCT, SUM),
        "∨": _infix(" ∨ ", PRODUCT, SUM),
        "=": _infix(" = ", SUM, SUM),
        "−": lambda part: (f"−{_within(part, PRODUCT)}", PRODUCT),
        "¬": lambda part: (f"¬{_within(part, ATOM)}", PRODUCT),
        "mod": lambda part, width: (f"{_within(part, PRODUCT)} mod 2^{width}", PRODUCT),
        "∈": lambda part, fmt: (f"{_within(part, SUM)} ∈ {fmt.head}", SUM),
        "if": _choice,
        "integer": _integer,
        "call": _call,
        "element": _element,
        "bits": lambda word, low, count: (f"bits({_text(word)[0]}, {_text(low)[0]}, {count})", ATOM),
        "pack": lambda width, *parts: (f"pack{width}({', '.join(_text(part)[0] for part in parts)})", ATOM),
        "fields": _fields,
        "sum": _summed,
        "fold": _folded,
    }
)
"""What writes an operator applied to its parts."""
