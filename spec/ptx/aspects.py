"""The aspects of a variant, each of which narrows the catalogue's rows to those that allow it.

They are asked in a fixed order. An aspect that no row is left with is a violation, is reported with what
the rows before it allow, and does not narrow: the next one is judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from .catalogue import Form, forms
from .matrix_move_forms import MOVE_SPACES, MatrixMoveForm
from .mma_forms import MmaForm
from .variant import Family, Variant
from .wmma_forms import SPACES, WmmaForm

Values = tuple[Hashable, ...]
"""What a row allows."""

ABSENT: Values = (None,)


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
    allowed : callable (form, variant) -> values
        What a row allows; the variant says which instruction of a row, and which operand, is meant.
    """

    id: str
    reason: str
    value: Callable[[Variant], Hashable]
    allowed: Callable[[Form, Variant], Values]


def _spell(value: Hashable) -> str:
    if value is None or value == ():
        return "none"
    return ".".join(map(str, value)) if type(value) is tuple else str(value)


def _spell_all(values: Values) -> str:
    pairs = [(first, second) for first, second in (v for v in values if type(v) is tuple and len(v) == 2)]
    if pairs and len(pairs) == len(values):
        return spell_pairs(pairs, ".")
    return ", ".join(map(_spell, values))


def spell_pairs(pairs: Iterable[tuple[str, str]], between: str) -> str:
    """Spell pairs of types or layouts, all combinations of several as a product of sets."""
    listed = list(pairs)
    firsts, seconds = (list(dict.fromkeys(pair[place] for pair in listed)) for place in (0, 1))
    if len(listed) > 1 and len(listed) == len(firsts) * len(seconds):
        return f"{{{', '.join(firsts)}}}{between}{{{', '.join(seconds)}}}"
    return ", ".join(between.join(pair) for pair in listed)


def _flag(name: str) -> Callable[[Variant], Hashable]:
    return lambda variant: f".{name}" if getattr(variant, name) else None


def _only_mma(values: Callable[[MmaForm], Values]) -> Callable[[Form, Variant], Values]:
    """Return what rows of ``mma`` and ``mma.sp`` allow; others don't have it."""
    return lambda form, _: values(form) if isinstance(form, MmaForm) else ABSENT


def _layouts(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm):
        return ((),)
    if isinstance(form, WmmaForm) and variant.role is not None:
        return tuple((layout,) for layout in form.role_layouts(variant.role))
    return form.layouts


def _is_product(variant: Variant) -> bool:
    return variant.family in (Family.MMA, Family.MMA_SP, Family.WMMA_MMA)


def _pair(variant: Variant, first: str, second: str) -> Hashable:
    types = variant.element_types
    if not _is_product(variant) or first not in types or second not in types:
        return None
    return (types[first], types[second])


def _multiplicands(form: Form, variant: Variant) -> Values:
    return form.multiplicands if _is_product(variant) and not isinstance(form, MatrixMoveForm) else ABSENT


def _accumulators(form: Form, variant: Variant) -> Values:
    return form.accumulators if _is_product(variant) and not isinstance(form, MatrixMoveForm) else ABSENT


def _moved(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm):
        return (form.types,)
    if isinstance(form, WmmaForm) and variant.role is not None:
        return tuple((element_type,) for element_type in form.role_types(variant.role))
    return ABSENT


def _type_count(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm) or variant.role is not None:
        return ABSENT
    if isinstance(form, WmmaForm) and form.multiplicands[0][0] == "f16":
        return (2,)
    return (4,)


def _satfinite(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm) or not _is_product(variant):
        return ABSENT
    once = isinstance(form, WmmaForm) and form.satfinite_before is not None
    return (None, ".satfinite") if form.satfinite or once else ABSENT


def _roundings(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm) or not _is_product(variant):
        return ABSENT
    return (None, *form.roundings)


def _operations(form: Form, variant: Variant) -> Values:
    if isinstance(form, MmaForm):
        return (form.bit_operation,)
    if isinstance(form, WmmaForm) and _is_product(variant) and form.bit_operations:
        return tuple(operation for operation, _ in form.bit_operations)
    return ABSENT


def _scale_vec(form: MmaForm) -> Values:
    return (form.scale_vec, None) if form.scale_vec_default else (form.scale_vec,)


def _metadata(family: Family, *, ordered: bool) -> str | None:
    if family is not Family.MMA_SP:
        return None
    return "sp::ordered_metadata" if ordered else "sp"


def _transpositions(form: Form) -> Values:
    if not isinstance(form, MatrixMoveForm):
        return ABSENT
    return tuple(".trans" if trans else None for trans in form.transposition.allowed)


def _spaces(form: Form, variant: Variant) -> Values:
    if isinstance(form, MatrixMoveForm):
        return ABSENT if form.family is Family.MOVMATRIX else MOVE_SPACES
    return SPACES if variant.role is not None else ABSENT


ASPECTS: tuple[Aspect, ...] = (
    Aspect("shape", "the instruction has the shape", lambda v: v.shape, lambda form, _: (form.shape,)),
    Aspect(
        "multiplicand-types", "the shape multiplies the types of A and B",
        lambda v: _pair(v, "a", "b"), _multiplicands,
    ),
    Aspect(
        "element-type", "a matrix of the shape is moved as elements of the type",
        lambda v: None if _is_product(v) else v.types, _moved,
    ),
    Aspect(
        "kind", "a kind is spelled exactly for block scaling and for 6- and 4-bit floats",
        lambda v: v.kind, _only_mma(lambda form: (form.kind,)),
    ),
    Aspect(
        "block-scale", "the mx kinds need .block_scale, others exclude it",
        _flag("block_scale"), _only_mma(lambda form: (".block_scale" if form.scale_vec else None,)),
    ),
    Aspect(
        "scale-vector", "the kind has the vector size; only mxf8f6f4 and mxf4 have a default",
        lambda v: v.scale_vec, _only_mma(_scale_vec),
    ),
    Aspect(
        "scale-type", "the kind and vector size have the type of scale factors",
        lambda v: v.element_types.get("scale"), _only_mma(lambda form: (form.scale_type,)),
    ),
    Aspect(
        "accumulator-types", "the multiplicands are accumulated in the types of D and C",
        lambda v: _pair(v, "d", "c"), _accumulators,
    ),
    Aspect(
        "type-count", "the types of D A B C are spelled, of wmma.mma on f16 those of D C",
        lambda v: len(v.types) - ("scale" in v.element_types) if _is_product(v) else None, _type_count,
    ),
    Aspect(
        "layout", "the operands may have the layouts",
        lambda v: v.layouts, _layouts,
    ),
    Aspect(
        "satfinite", "only integer products saturate", _flag("satfinite"), _satfinite,
    ),
    Aspect("rounding", "only f64 products have a rounding", lambda v: v.rounding, _roundings),
    Aspect(
        "bit-operation", "exactly b1 products have a bit operation",
        lambda v: v.bit_operation, _operations,
    ),
    Aspect(
        "popc", "a bit operation is followed by .popc, nothing else is",
        _flag("popc"), lambda form, v: tuple(operation and ".popc" for operation in _operations(form, v)),
    ),
    Aspect(
        "metadata-variant", "the types are multiplied with the variant of metadata",
        lambda v: _metadata(v.family, ordered=v.ordered_metadata),
        _only_mma(lambda form: (_metadata(form.family, ordered=form.ordered_metadata),)),
    ),
    Aspect(
        "transposition", ".trans is spelled where it must be and may be",
        _flag("trans"), lambda form, _: _transpositions(form),
    ),
    Aspect(
        "count", "the number of matrices is one the shape has",
        lambda v: v.count,
        lambda form, _: (isinstance(form, MatrixMoveForm) and form.counts) or ABSENT,
    ),
    Aspect("state-space", "the memory operand may be in the state space", lambda v: v.space, _spaces),
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


@lru_cache(maxsize=4096)
def narrow(variant: Variant) -> Narrowing:
    """Narrow the rows of the variant's instruction, aspect by aspect."""
    rows = forms(variant.family)
    messages = {}
    agreed: list[str] = []
    for aspect in ASPECTS:
        value = aspect.value(variant)
        left = tuple(row for row in rows if value in aspect.allowed(row, variant))
        if left:
            if len(left) < len(rows) and value is not None:
                agreed.append(_spell(value))
            rows = left
            continue
        allowed = _widest(aspect.allowed(row, variant) for row in rows)
        given = f" with {' '.join(agreed)}" if agreed else ""
        messages[aspect.id] = (
            f"{_complaint(aspect, value)}{given}; allowed: {', '.join(map(_spell_all, allowed))}"
        )
    return Narrowing(rows, messages)


def _widest(choices: Iterable[Values]) -> list[Values]:
    """Leave out what another row allows as well."""
    distinct = list(dict.fromkeys(choices))
    return [choice for choice in distinct if not any(set(choice) < set(other) for other in distinct)]


def _complaint(aspect: Aspect, value: Hashable) -> str:
    what = aspect.id.replace("-", " ")
    if value is None or value == ():
        return f"{what} missing"
    spelled = _spell(value)
    return f"{spelled} is not allowed" if spelled.startswith(".") else f"{what} {spelled} is not allowed"
