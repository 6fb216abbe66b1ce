"""The aspects of a variant, each of which narrows the catalogue's rows to those that allow it.

They are asked in a fixed order. An aspect that no row is left with is a violation, is reported with what
the rows before it allow, and does not narrow: the next one is judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..errors import InputError
from .catalogue import Form, forms
from .forms import Allowed, Values
from .variant import MULTIPLYING, SPARSE, WMMA, Shape, Variant

_ABSENT: Values = (None,)


@dataclass(frozen=True)
class Aspect:
    """Something a variant spells, or leaves out.

    Attributes
    ----------
    id : str
        Name of the rule about it.
    reason : str
        The rule.
    value : callable (variant) -> value
        What is spelled.
    """

    id: str
    reason: str
    value: Callable[[Variant], Hashable]


def _spell(value: Hashable) -> str:
    if value is None or value == ():
        return "none"
    return ".".join(map(str, value)) if type(value) is tuple else str(value)


def _spell_all(values: Values) -> str:
    if len(values) > MANY and all(isinstance(value, Shape) for value in values):
        return spell_shapes([value for value in values if isinstance(value, Shape)])
    pairs = [(first, second) for first, second in (v for v in values if type(v) is tuple and len(v) == 2)]
    if pairs and len(pairs) == len(values):
        return spell_pairs(pairs, ".")
    return ", ".join(map(_spell, values))


MANY = 8
"""Shapes of which so many, or fewer, are listed."""


def spell_shapes(shapes: Sequence[Shape]) -> str:
    """Spell shapes that differ in N: ``m64nNk16, N = 8, 16, 24, 32, 48 to 256 by 16``."""
    columns = [shape.n for shape in shapes]
    parts, start = [], 0
    while start < len(columns):
        end = start + 1
        while end < len(columns) and columns[end] - columns[end - 1] == columns[start + 1] - columns[start]:
            end += 1
        run = columns[start:end]
        parts.append(
            f"{run[0]} to {run[-1]} by {run[1] - run[0]}" if len(run) > MANY else ", ".join(map(str, run))
        )
        start = end
    m, _, k = shapes[0]
    return f"m{m}nNk{k}, N = {', '.join(parts)}"


def spell_pairs(pairs: Iterable[tuple[str, str]], between: str) -> str:
    """Spell pairs of types or layouts, all combinations of several as a product of sets."""
    listed = list(pairs)
    firsts, seconds = (list(dict.fromkeys(pair[place] for pair in listed)) for place in (0, 1))
    if len(listed) > 1 and len(listed) == len(firsts) * len(seconds):
        return f"{{{', '.join(firsts)}}}{between}{{{', '.join(seconds)}}}"
    return ", ".join(between.join(pair) for pair in listed)


def _flag(name: str) -> Callable[[Variant], Hashable]:
    return lambda variant: f".{name}" if getattr(variant, name) else None


def _is_product(variant: Variant) -> bool:
    return variant.family in MULTIPLYING


def _pair(variant: Variant, first: str, second: str) -> Hashable:
    types = variant.element_types
    if not _is_product(variant) or first not in types or second not in types:
        return None
    return (types[first], types[second])


def _metadata(variant: Variant) -> str | None:
    if variant.family not in SPARSE.values():
        return None
    return "sp::ordered_metadata" if variant.ordered_metadata else "sp"


ASPECTS: tuple[Aspect, ...] = (
    Aspect("shape", "the instruction has the shape", lambda v: v.shape),
    Aspect("multiplicand-types", "the shape multiplies the types of A and B", lambda v: _pair(v, "a", "b")),
    Aspect(
        "element-type", "a matrix of the shape is moved as elements of the type",
        lambda v: None if _is_product(v) else v.types,
    ),
    Aspect(
        "kind", "a kind is spelled exactly for block scaling and for 6- and 4-bit floats", lambda v: v.kind
    ),
    Aspect("block-scale", "the mx kinds need .block_scale, others exclude it", _flag("block_scale")),
    Aspect(
        "scale-vector", "the kind has the vector size; only mxf8f6f4 and mxf4 have a default",
        lambda v: v.scale_vec,
    ),
    Aspect(
        "scale-type", "the kind and vector size have the type of scale factors",
        lambda v: v.element_types.get("scale"),
    ),
    Aspect(
        "accumulator-types", "the multiplicands are accumulated in the types of D and C",
        lambda v: _pair(v, "d", "c"),
    ),
    Aspect(
        "type-count", "the types of D A B C are spelled, of wmma.mma on f16 those of D C, of wgmma of D A B",
        lambda v: len(v.types) - ("scale" in v.element_types) if _is_product(v) else None,
    ),
    Aspect("layout", "the operands may have the layouts", lambda v: v.layouts),
    Aspect("satfinite", "only integer products saturate", _flag("satfinite")),
    Aspect("rounding", "only f64 products have a rounding", lambda v: v.rounding),
    Aspect("bit-operation", "exactly b1 products have a bit operation", lambda v: v.bit_operation),
    Aspect("popc", "a bit operation is followed by .popc, nothing else is", _flag("popc")),
    Aspect("metadata-variant", "the types are multiplied with the variant of metadata", _metadata),
    Aspect("transposition", ".trans is spelled where it must be and may be", _flag("trans")),
    Aspect("count", "the number of matrices is one the shape has", lambda v: v.count),
    Aspect("state-space", "the memory operand may be in the state space", lambda v: v.space),
)  # fmt: skip
"""Every aspect, in the order in which they are judged."""


@dataclass(frozen=True)
class Narrowing:
    """What a variant comes to.

    Attributes
    ----------
    forms : tuple of Form
        The rows that are left.
    messages : dict of str
        What is wrong, by aspect.
    """

    forms: tuple[Form, ...]
    messages: dict[str, str]


Row = tuple[Form, Allowed]
"""A row, and what it allows of an instruction."""


def rows_of(variant: Variant) -> tuple[Row, ...]:
    """Return the rows of a variant's instruction, and of the operand that it moves."""
    return tuple((row, row.allowed(variant)) for row in forms(variant.family))


def allowing(rows: tuple[Row, ...], name: str, value: Hashable) -> tuple[Row, ...]:
    """Return those of the rows that allow what is spelled of an aspect."""
    return tuple(row for row in rows if value in row[1].get(name, _ABSENT))


@lru_cache(maxsize=4096)
def narrow(variant: Variant) -> Narrowing:
    """Narrow the rows of the variant's instruction, aspect by aspect."""
    rows = rows_of(variant)
    messages = {}
    agreed: list[str] = []
    for aspect in ASPECTS:
        value, name = aspect.value(variant), aspect.id
        left = allowing(rows, name, value)
        if left:
            if len(left) < len(rows) and value is not None:
                agreed.append(_spell(value))
            rows = left
            continue
        allowed = _widest(may_spell.get(name, _ABSENT) for _, may_spell in rows)
        given = f" with {' '.join(agreed)}" if agreed else ""
        messages[name] = f"{_complaint(aspect, value)}{given}; allowed: {', '.join(map(_spell_all, allowed))}"
    return Narrowing(tuple(row for row, _ in rows), messages)


def form_of(variant: Variant) -> Form:
    """Return the catalogue's row of a variant that is legal somewhere.

    Raises
    ------
    InputError
        If it is legal nowhere; it names the violated rules.
    """
    narrowing = narrow(variant)
    wrong = [f"{rule}: {message}" for rule, message in narrowing.messages.items()]
    if not variant.sync or not (variant.aligned or variant.family in WMMA):
        wrong.append("sync, aligned: both are mandatory")
    if wrong:
        raise InputError(f"{variant} is illegal: {'; '.join(wrong)}")
    return narrowing.forms[0]


def _widest(choices: Iterable[Values]) -> list[Values]:
    """Leave out what another row allows as well."""
    distinct = list(dict.fromkeys(choices))
    return [choice for choice in distinct if not any(set(choice) < set(other) for other in distinct)]


def _complaint(aspect: Aspect, value: Hashable) -> str:
    what = aspect.id.replace("-", " ")
    if value is None or value == ():
        return f"{what} missing"
    spelled = _spell(value)
    if spelled.startswith("."):
        return f"{spelled} is not allowed"
    return f"{what} {spelled} {'are' if what.endswith('s') else 'is'} not allowed"
