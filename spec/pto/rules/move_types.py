"""Rules on the element types of a move: which pairs it takes, and what it makes of them.

Only a move out of the accumulator converts on the NPU, by a cast or with a quantisation, and the headers list
the pairs; the CPU simulator assigns elements, as C++ converts them.

Source: pto-isa headers: CheckTMovAccToMat (a2a3/common.hpp), CheckTMovAccValid (a5/common.hpp), CheckAcc2gm
and CheckStaticAcc (TStore.hpp), TMovToBt and TMovToFb (TMov.hpp), CheckTExtract and
is_textract_supported_type (TExtract.hpp).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..catalogue import OPERATIONS, OperationKind
from ..element_types import ELEMENT_TYPES, ElementType
from ..resolution import Resolved
from ..targets import A2A3, A5, CPU, Profile
from ..text.types import TileType
from ..tile import Location
from .enforcement import ALL_PROFILES, Messages, PtoRule, RuleKind, of_moves

Pairs = Mapping[str, frozenset[ElementType]]

_MAT, _VEC, _ACC = Location.MAT, Location.VEC, Location.ACC


def _types(names: str) -> frozenset[ElementType]:
    return frozenset(ELEMENT_TYPES[name] for name in names.split())


def _pairs(**targets: str) -> Pairs:
    return MappingProxyType({source: _types(names) for source, names in targets.items()})


CAST = MappingProxyType({"A2A3": _pairs(f32="f16 bf16"), "A5": _pairs(f32="f16 bf16 f32", i32="i32")})
"""What an accumulator becomes in mat or vec without a quantisation."""

QUANTISED = MappingProxyType(
    {
        "A2A3": _pairs(f32="i8", i32="i8 ui8 f16 i16"),
        "A5": _pairs(f32="i8 ui8 hif8 f16 bf16 f8E4M3FN f32", i32="i8 ui8 f16 bf16"),
    }
)
"""What it becomes there with one."""

STORED = _types("i32 f32 f16 bf16")
"""What an accumulator is stored as without a quantisation, whatever it is."""

STORED_QUANTISED = MappingProxyType({"A2A3": _pairs(f32="i8 ui8", i32="i8 ui8 f16"), "A5": QUANTISED["A5"]})
"""What it is stored as with one."""

_DEFINED = _pairs(f32="f32 f16 bf16", i32="i32")
"""The stores without a quantisation that convert."""

_BIAS = MappingProxyType(
    {
        "A2A3": _pairs(i32="i32", f32="f32", f16="f32"),
        "A5": _pairs(i32="i32", f32="f32", f16="f32", bf16="f32"),
    }
)
_EXTRACTED = MappingProxyType(
    {
        "A2A3": _types("i8 f16 bf16 f32"),
        "A5": _types("i8 f16 bf16 f32 f8E4M3FN f8E5M2 hif8 f4E2M1x2 f4E1M2x2 f8E8M0FNU"),
    }
)


def route(resolved: Resolved) -> tuple[Location | None, Location | None]:
    """Return where a move goes from and to, as far as it is known; None is global memory too."""
    return resolved.location("source"), resolved.location("target")


def quantised(resolved: Resolved) -> bool:
    """Whether a move has a quantisation: an attribute, a scalar, or a tile of scale factors."""
    if any("quant" in name.lower() for name, _ in resolved.instruction.attributes):
        return True
    operand = resolved.instruction.operands().get("quantisation")
    if operand is None:
        return False
    return not isinstance(operand.type, TileType) or operand.type.location in (None, Location.SCALING)


def _spell(types: frozenset[ElementType]) -> str:
    return ", ".join(entry.name for entry in ELEMENT_TYPES.values() if entry in types)


def _pair(resolved: Resolved) -> tuple[ElementType, ElementType] | None:
    source, target = resolved.element("source"), resolved.element("target")
    return None if source is None or target is None else (source, target)


def _move_types(resolved: Resolved, profile: Profile) -> Messages:
    if (pair := _pair(resolved)) is None:
        return
    source, target = pair
    places = route(resolved)
    if places[0] is _ACC and resolved.operation.view != "source":
        yield from _leaves_accumulator(resolved, profile, source, target)
    elif resolved.operation.view is not None:
        if source.storage_bytes != target.storage_bytes:
            yield f"{source} to {target}; elements in memory and in the tile have one size"
    elif places[1] is Location.BIAS:
        if target not in _BIAS[profile.name].get(source.name, ()):
            taken = ", ".join(
                f"{_spell(_BIAS[profile.name][name])} from {name}" for name in _BIAS[profile.name]
            )
            yield f"{source} to {target}; the bias takes {taken}"
    elif places[0] is not None and source != target and not _in_vec(resolved):
        bias = resolved.operation.name == "tmov" and places == (_MAT, None)
        if not bias or target not in _BIAS[profile.name].get(source.name, ()):
            yield f"{source} to {target}; the move does not convert"


def _in_vec(resolved: Resolved) -> bool:
    """Whether bytes are moved in vec."""
    return resolved.operation.name == "tmov" and route(resolved) == (_VEC, _VEC)


def _vec_size(resolved: Resolved, _: Profile) -> Messages:
    if _in_vec(resolved) and (pair := _pair(resolved)) and pair[0].storage_bytes != pair[1].storage_bytes:
        yield f"{pair[0]} to {pair[1]}; a move in vec copies elements of one size"


def _leaves_accumulator(
    resolved: Resolved, profile: Profile, source: ElementType, target: ElementType
) -> Messages:
    stored, with_quantisation = resolved.operation.stores, quantised(resolved)
    if source.name not in ("f32", "i32"):
        yield f"{source} to {target}; an accumulator is f32 or i32"
        return
    if stored and not with_quantisation:
        allowed = STORED
    else:
        table = (STORED_QUANTISED if stored else QUANTISED) if with_quantisation else CAST
        allowed = table[profile.name].get(source.name, frozenset())
    if target not in allowed:
        how = "with" if with_quantisation else "without"
        becomes = _spell(allowed) or "nothing"
        yield f"{source} to {target}; {how} a quantisation {source} becomes {becomes} on {profile}"


def _move_conversion(resolved: Resolved, profile: Profile) -> Messages:
    pair = _pair(resolved)
    if pair is None or pair[0] == pair[1]:
        return
    (source, target), operation = pair, resolved.operation
    if not profile.cube:
        if operation.name == "tmov" or not quantised(resolved):  # whose quantisation it leaves out
            yield f"{source} to {target}: elements are assigned, as C++ converts them"
    elif resolved.location("source") is _ACC:
        plain = operation.stores and not quantised(resolved)
        if plain and target in STORED and target not in _DEFINED.get(source.name, STORED):
            yield f"{source} to {target} without a quantisation"
    elif (operation.view or _in_vec(resolved)) and source.storage_bytes == target.storage_bytes:
        yield f"{source} to {target}: bytes are copied"


def _extract_types(resolved: Resolved, profile: Profile) -> Messages:
    moved, places = resolved.element("target"), route(resolved)
    if moved is None:
        moved = resolved.element("source") if places[0] in (None, _MAT) else None
    checked = places[0] is _MAT and places[1] not in (Location.BIAS, Location.SCALING)
    if resolved.operation.name == "tmov" and not checked and places != (_VEC, _MAT):
        return
    allowed = _EXTRACTED[profile.name]
    if places == (_VEC, _VEC):
        allowed |= _types("i32")
    if moved is not None and moved not in allowed and not quantised(resolved):
        yield f"{resolved.operation} of {moved}; {profile} has {_spell(allowed)}"


_MOVES = tuple(name for name, operation in OPERATIONS.items() if operation.kind is OperationKind.MOVE)

MOVE_TYPE_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "move-types", "element types are equal, or a pair that the move converts",
        "pto-isa headers: CheckTMovAccToMat, CheckTMovAccValid, CheckAcc2gm, TMovToBt", _move_types,
        enforcements=(of_moves(*_MOVES), of_moves("tload", profiles=(CPU,))),
    ),
    PtoRule(
        "move-conversion", "what becomes of an element is documented",
        "pto-isa headers at 3186c381 (TMov, TExtract, TStore)",
        _move_conversion, enforcements=(of_moves(*_MOVES, kind=RuleKind.UNSPECIFIED, profiles=ALL_PROFILES),),
    ),
    PtoRule(
        "extract-types", "textract has the element type; on A5 tmov too, out of mat and from vec to mat",
        "TExtract.hpp: CheckTExtract, is_textract_supported_type; TMov.hpp of A5: CommonCheck",
        _extract_types,
        enforcements=(of_moves("textract"), of_moves("tmov", profiles=(A5,))),
    ),
    PtoRule(
        "vec-size", "tmov in vec keeps the size of elements",
        "TMov.hpp: TMovToVecImpl of A2A3 asserts it, TMovVecToVec of A5 takes both for the target's",
        _vec_size,
        enforcements=(
            of_moves("tmov", profiles=(A2A3,)), of_moves("tmov", kind=RuleKind.SILENT, profiles=(A5,)),
        ),
    ),
)  # fmt: skip
"""Rules on the element types of moves."""
