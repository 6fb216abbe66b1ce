"""The constraint tables of the PTO operations, generated from the operations, the profiles and the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .. import tables as of_all
from .catalogue import OPERATIONS, ROLE_LOCATIONS, TYPE_TRIPLES, Operation, OperationKind, triples
from .contradictions import CONTRADICTIONS
from .element_types import ELEMENT_TYPES
from .fractal import layout_of
from .legality import RULES
from .rules.enforcement import (
    ACCUMULATING,
    BIASED,
    EVERYTHING,
    GEMV,
    MATMUL,
    MICROSCALED,
    PLAIN,
    PRODUCTS,
    PtoRule,
    RuleKind,
)
from .rules.moves import PLACES
from .rules.tiles import ADDRESS_RULES
from .sizes import OPERAND_EXTENTS, size_sources
from .targets import PROFILES, Profile, alias
from .tile import FRACTAL_BYTES, Location, Order, box

Row = dict[str, str]

ALL_RULES: tuple[PtoRule[Any], ...] = (*RULES, *ADDRESS_RULES)
"""Rules on statements, then on addresses."""


def _by_profile(describe: Callable[[Profile], str]) -> str:
    """Say something of every profile, profiles of which the same is said together."""
    said: dict[str, list[str]] = {}
    for profile in PROFILES.values():
        if text := describe(profile):
            said.setdefault(text, []).append(profile.name)
    if len(said) == 1 and len(next(iter(said.values()))) == len(PROFILES):
        return next(iter(said))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in said.items())


def _has(profile: Profile, operation: Operation) -> bool:
    return profile.microscaling or not operation.microscaled


def _sizes(operation: Operation) -> str:
    def of(profile: Profile) -> str:
        sources = zip("mkn", size_sources(operation, profile), strict=True)
        return ", ".join(f"{name} = {source or 1}" for name, source in sources)

    return _by_profile(lambda profile: of(profile) if _has(profile, operation) else "")


def _types(operation: Operation) -> str:
    return _by_profile(lambda profile: ", ".join(map(str, triples(profile, operation))))


def _layouts(operation: Operation) -> str:
    roles = dict.fromkeys((*operation.inputs, operation.output))
    element = ELEMENT_TYPES["f16"]

    def of(profile: Profile) -> str:
        tiles = {role: alias(profile, ROLE_LOCATIONS[role], element, (16, 16)) for role in roles}
        return ", ".join(f"{role} {tile.location} {tile.layout_name}" for role, tile in tiles.items())

    return _by_profile(lambda profile: of(profile) if _has(profile, operation) else "")


def _extents(operation: Operation) -> str:
    extents = {role: OPERAND_EXTENTS[role] for role in (*operation.inputs, operation.output)}
    text = ", ".join(f"{role} {extent.rows} x {extent.columns}" for role, extent in extents.items())
    return text + (", g = k / 32 rounded up" if operation.microscaled else "")


def _places(operation: Operation) -> str:
    def of(profile: Profile) -> str:
        if not profile.cube:
            return "anywhere"
        return ", ".join(
            f"{source or 'memory'} -> {target or 'memory'}"
            for (source, target), profiles in PLACES[operation.name].items()
            if profile in profiles
        )

    return _by_profile(of)


def row(operation: Operation) -> Row:
    """Return the row of an operation."""
    product = operation.kind is not OperationKind.MOVE
    return {
        "operation": operation.name,
        "operands": ", ".join(operation.inputs),
        "result": operation.output,
        "computes": operation.summary,
        "sizes": _sizes(operation) if product else "",
        "extents": _extents(operation) if product else "",
        "types": _types(operation) if product else "",
        "places and layouts": _layouts(operation) if product else _places(operation),
        "profiles": ", ".join(p.name for p in PROFILES.values() if _has(p, operation)),
    }


def rows() -> list[Row]:
    """Return one row for each operation."""
    return list(map(row, OPERATIONS.values()))


def type_rows() -> list[Row]:
    """Return one row for each triple of element types."""
    return [
        {
            "accumulator": str(triple.accumulator),
            "A and B, each one of": ", ".join(map(str, triple.factors)),
            "plain": ", ".join(map(str, triple.plain)),
            "mx": ", ".join(map(str, triple.microscaled)),
            "note": triple.note,
        }
        for triple in TYPE_TRIPLES
    ]


def buffer_rows() -> list[Row]:
    """Return one row for each location, with the bytes that each profile has there."""
    return [
        {
            "location": str(location),
            **{profile.name: str(profile.capacities[location]) for profile in PROFILES.values()},
        }
        for location in Location
        if all(location in profile.capacities for profile in PROFILES.values())
    ]


_ALIASES = MappingProxyType(
    {
        "TileLeft": Location.LEFT,
        "TileRight": Location.RIGHT,
        "TileAcc": Location.ACC,
        "TileLeftScale": Location.SCALE_LEFT,
        "TileRightScale": Location.SCALE_RIGHT,
        "(bias)": Location.BIAS,
        "(panel of A or B)": Location.MAT,
    }
)
"""Predefined tiles; those in parentheses have no name in the headers."""

_EXAMPLES = MappingProxyType(
    {Location.ACC: "f32", Location.SCALE_LEFT: "f8E8M0FNU", Location.SCALE_RIGHT: "f8E8M0FNU"}
)
"""Element types of which the formulas are shown; otherwise f16."""


def alias_rows() -> list[Row]:
    """Return one row for each predefined tile and order, with the formula of a 64x64 instance."""
    found: dict[tuple[str, str], Row] = {}
    for name, location in _ALIASES.items():
        for profile in PROFILES.values():
            extent = (1, 64) if location is Location.BIAS else (64, 64)
            tile = alias(profile, location, ELEMENT_TYPES[_EXAMPLES.get(location, "f16")], extent)
            order = layout_of(tile)
            row = found.setdefault(
                (name, order.name),
                {
                    "tile": name,
                    "location": str(location),
                    "layout": order.name,
                    "blayout": str(tile.blocks),
                    "slayout": str(tile.inner),
                    "fractal bytes": str(tile.fractal),
                    "instance": f"{tile.rows}x{tile.columns} {tile.element}",
                    "offset of (r, c)": order.formula(tile.rows, tile.columns),
                    "profiles": "",
                },
            )
            row["profiles"] = ", ".join(filter(None, (row["profiles"], profile.name)))
    return list(found.values())


def block_rows() -> list[Row]:
    """Return the rows and columns of a block by fractal size, order inside and width of the elements."""
    shown = {"f32": "4 bytes", "f16": "2 bytes", "i8": "1 byte", "f4E2M1x2": "4 bits (the headers' number)"}
    return [
        {
            "fractal bytes": str(fractal),
            "slayout": str(inner),
            **{
                width: "x".join(map(str, box(fractal, inner, ELEMENT_TYPES[name])))
                for name, width in shown.items()
            },
        }
        for fractal in FRACTAL_BYTES
        for inner in (Order.ROW_MAJOR, Order.COL_MAJOR)
    ]


_GROUPS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "everything": EVERYTHING,
        "products": PRODUCTS,
        "tmatmul*": MATMUL,
        "tgemv*": GEMV,
        "*.mx*": MICROSCALED,
        "without mx": PLAIN,
        "*.bias": BIASED,
        "*.acc": ACCUMULATING,
    }
)


def _spell_operations(names: Iterable[str]) -> str:
    chosen = frozenset(names)
    for spelled, group in _GROUPS.items():
        if group == chosen:
            return spelled
    return ", ".join(name for name in OPERATIONS if name in chosen)


def rule_rows() -> list[Row]:
    """Return one row for each legality rule, with its kinds, and the profiles and operations they are for."""
    found = []
    for rule, row in zip(ALL_RULES, of_all.rule_rows(ALL_RULES), strict=True):
        kinds: dict[RuleKind, list[str]] = {}
        for enforcement in rule.enforcements:
            where = ", ".join(profile.name for profile in enforcement.profiles)
            what = "" if rule in ADDRESS_RULES else f" ({_spell_operations(enforcement.operations)})"
            kinds.setdefault(enforcement.kind, []).append(where + what)
        kind = "; ".join(f"{kind}: {', '.join(where)}" for kind, where in kinds.items())
        found.append({"rule": row.pop("rule"), "kind": kind, **row})
    return found


def contradiction_rows() -> list[Row]:
    """Return one row for each contradicting claim, with the rules that take a side."""
    citing = {
        point.id: ", ".join(rule.id for rule in ALL_RULES if point in rule.contradictions)
        for point in CONTRADICTIONS
    }
    return [
        {**row, "rules": citing[row["contradiction"]]} for row in of_all.contradiction_rows(CONTRADICTIONS)
    ]
