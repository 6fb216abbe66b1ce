"""Which moves of PTO are legal: decision tables of places, element types and conditions, from the headers."""

from __future__ import annotations

from functools import partial
from itertools import product

from ...spec.pto.assembly import parse
from ...spec.pto.resolution import resolve_known
from ...spec.pto.targets import PROFILES
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .spelled import rules_of, stated_table
from .stated import conversions
from .stated.operand_spelling import statement

SOURCE = "pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE of each profile"

PROFILE_NAMES = ("A2A3", "A5", "CPU")


def _judged(operation: str, source: str, target: str, other: str, profile: str) -> str:
    text = statement(operation, source, target, other, profile)
    return rules_of(resolve_known(parse(text), PROFILES[profile]))


moves = table_theorem(
    "pto/legal/moves",
    "moves break the rules that the headers' conditions name, and no others",
    "∀ listed moves and profiles: the rules broken (and in parentheses those that forbid nothing) are the "
    "listed ones: on extents, orders, windows and alignment on both sides of their limits, biases, scale "
    "factors, quantisation, loads and stores, and what is no tile",
    SOURCE,
    lambda: {profile: partial(_moves, profile) for profile in PROFILE_NAMES},
)


def _moves(profile: str) -> Certificate:
    """Compare with the table of verdicts.

    Its cells were printed by the specification and read. Most are derived without it, from the reference and
    the headers' tables, in tests/proofs/pto/test_move_verdicts_derived.py, which counts those and names what
    the others take over from the specification.
    """
    (listed,) = stated_table("moves.txt")
    return answered(
        {(row["operation"], row["source"], row["target"], row["with"]): row[profile] for row in listed},
        lambda operation, source, target, others: _judged(operation, source, target, others, profile),
    )


routes = table_theorem(
    "pto/legal/routes",
    "moves go between the buffers that the headers have them for, and no others",
    "∀ operations, buffers moved from and to (9 x 9, memory where the operation has it) and profiles: "
    "move-places is broken ⇔ the table has no such route; never on the simulator",
    SOURCE,
    lambda: {profile: partial(_routes, profile) for profile in PROFILE_NAMES},
)


def _routes(profile: str) -> Certificate:
    pairs = [("tload", "memory", place) for place in conversions.PLACES]
    pairs += [("tstore", place, "memory") for place in conversions.PLACES]
    pairs += product(("tmov", "textract", "tinsert"), conversions.PLACES, conversions.PLACES)
    expected = {route: profile != "CPU" and (*route, profile) not in conversions.ROUTES for route in pairs}

    def breaks(operation: str, source: str, target: str) -> bool:
        places = [
            "view 64x64xf16" if place == "memory" else f"{place} 64x64xf16 Nz" for place in (source, target)
        ]
        return "move-places" in _judged(operation, places[0], places[1], "-", profile).split()

    return compared(expected, lambda: {route: breaks(*route) for route in pairs})


converted = table_theorem(
    "pto/legal/conversions",
    "moves take and make the element types that the headers list",
    "∀ pairs of element types: out of the accumulator (to buffers and memory, with a quantisation and "
    "without) and to the bias, move-types is broken ⇔ the table has no such pair; textract, and tmov where "
    "A5 asserts it, break extract-types ⇔ the table has no such type; loads, stores and moves in vec keep "
    "the size of an element",
    SOURCE,
    lambda: {
        name: goal
        for profile in ("A2A3", "A5")
        for name, goal in (
            (f"accumulator/{profile}", partial(_from_accumulator, profile)),
            (f"bias/{profile}", partial(_to_bias, profile)),
            (f"extracted/{profile}", partial(_extracted, profile)),
            (f"sizes/{profile}", partial(_sizes, profile)),
        )
    },
)


def _from_accumulator(profile: str) -> Certificate:
    ways = [
        ("tmov", "mat", False),
        ("tmov", "mat", True),
        ("tstore", "memory", False),
        ("tstore", "memory", True),
    ]
    pairs = [(*way, *pair) for way in ways for pair in product(("f32", "i32", "f16"), conversions.ELEMENTS)]
    ways = [(name, "mat", quantised) for name in ("textract", "tinsert") for quantised in (False, True)]
    if profile == "A5":
        ways += [("tmov", "vec", False), ("tmov", "vec", True)]
    pairs += [(*way, *pair) for way in ways for pair in product(("f32", "i32"), ("f16", "i32", "i8", "ui8"))]
    expected = {}
    for operation, place, quantised, source, target in pairs:
        to = "memory" if place == "memory" else "buffer"
        known = (to, quantised, source, target, profile) in conversions.FROM_ACCUMULATOR
        expected[operation, place, quantised, source, target] = not known

    def breaks(operation: str, place: str, quantised: bool, source: str, target: str) -> bool:
        to = f"view 64x64x{target}" if place == "memory" else f"{place} 64x64x{target} Nz"
        found = _judged(operation, f"acc 64x64x{source} Nz", to, "q = i64" if quantised else "-", profile)
        return "move-types" in found.split()

    return compared(expected, lambda: {way: breaks(*way) for way in pairs})


def _to_bias(profile: str) -> Certificate:
    pairs = list(product(("i8", "i32", "f16", "bf16", "f32"), repeat=2))
    expected = {pair: (*pair, profile) not in conversions.TO_BIAS for pair in pairs}

    def breaks(source: str, target: str) -> bool:
        found = _judged("tmov", f"mat 1x64x{source} ND", f"bias 1x64x{target} ND", "-", profile)
        return "move-types" in found.split()

    return compared(expected, lambda: {pair: breaks(*pair) for pair in pairs})


def _extracted(profile: str) -> Certificate:
    known, more = conversions.EXTRACTED[profile], conversions.IN_VEC
    ways = {
        ("textract", "mat", "left"): known,
        ("textract", "mat", "scale_left"): known,
        ("textract", "vec", "vec"): known | more,
        ("tmov", "mat", "right"): known if profile == "A5" else None,
        ("tmov", "mat", "bias"): None,
        ("tmov", "mat", "scaling"): None,
        ("tmov", "vec", "mat"): known if profile == "A5" else None,
        ("tmov", "vec", "vec"): None,
    }

    def breaks(operation: str, source: str, target: str, element: str) -> bool:
        places = [f"{place} 64x64x{element} Nz" for place in (source, target)]
        return "extract-types" in _judged(operation, places[0], places[1], "-", profile).split()

    return answered(
        {
            (*way, element): taken is not None and element not in taken
            for way, taken in ways.items()
            for element in conversions.ELEMENTS
        },
        breaks,
    )


def _sizes(profile: str) -> Certificate:
    size = {element: bytes_ for bytes_, elements in conversions.BYTES.items() for element in elements}
    rules = {"tload": "move-types", "tstore": "move-types", "tmov": "vec-size"}
    pairs = list(product(rules, ("i8", "f16", "f32", "i64"), conversions.ELEMENTS))
    expected = {(name, source, target): size[source] != size[target] for name, source, target in pairs}

    def breaks(operation: str, source: str, target: str) -> bool:
        ends = {"tload": ("view", "vec"), "tstore": ("vec", "view"), "tmov": ("vec", "vec")}[operation]
        spelled = [
            f"{end} 64x64x{element}" + (" ND" if end == "vec" else "")
            for end, element in zip(ends, (source, target), strict=True)
        ]
        return rules[operation] in _judged(operation, spelled[0], spelled[1], "-", profile).split()

    return compared(expected, lambda: {pair: breaks(*pair) for pair in pairs})


THEOREMS = (moves, routes, converted)
