"""Which moves of PTO are legal, and whole texts line by line: decision tables from the headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product

from ...spec.instruction_set import Judgement
from ...spec.legality import Note, NoteKind
from ...spec.pto.assembly import parse, parse_module
from ...spec.pto.module_legality import judge_module, judged_statements
from ...spec.pto.resolution import resolve_known
from ...spec.pto.targets import PROFILES
from ...spec.pto.text.statements import ConstantDefinition
from ...spec.pto.tile import Compact, Pad, Tile
from ..comparison import broken_rules, compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import modules as stated
from .stated import tables
from .stated.names import statement
from .verdicts import rules_of, stated_table

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
    pairs = [("tload", "memory", place) for place in tables.PLACES]
    pairs += [("tstore", place, "memory") for place in tables.PLACES]
    pairs += product(("tmov", "textract", "tinsert"), tables.PLACES, tables.PLACES)
    expected = {route: profile != "CPU" and (*route, profile) not in tables.ROUTES for route in pairs}

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
    pairs = [(*way, *pair) for way in ways for pair in product(("f32", "i32", "f16"), tables.ELEMENTS)]
    ways = [(name, "mat", quantised) for name in ("textract", "tinsert") for quantised in (False, True)]
    if profile == "A5":
        ways += [("tmov", "vec", False), ("tmov", "vec", True)]
    pairs += [(*way, *pair) for way in ways for pair in product(("f32", "i32"), ("f16", "i32", "i8", "ui8"))]
    expected = {}
    for operation, place, quantised, source, target in pairs:
        to = "memory" if place == "memory" else "buffer"
        known = (to, quantised, source, target, profile) in tables.FROM_ACCUMULATOR
        expected[operation, place, quantised, source, target] = not known

    def breaks(operation: str, place: str, quantised: bool, source: str, target: str) -> bool:
        to = f"view 64x64x{target}" if place == "memory" else f"{place} 64x64x{target} Nz"
        found = _judged(operation, f"acc 64x64x{source} Nz", to, "q = i64" if quantised else "-", profile)
        return "move-types" in found.split()

    return compared(expected, lambda: {way: breaks(*way) for way in pairs})


def _to_bias(profile: str) -> Certificate:
    pairs = list(product(("i8", "i32", "f16", "bf16", "f32"), repeat=2))
    expected = {pair: (*pair, profile) not in tables.TO_BIAS for pair in pairs}

    def breaks(source: str, target: str) -> bool:
        found = _judged("tmov", f"mat 1x64x{source} ND", f"bias 1x64x{target} ND", "-", profile)
        return "move-types" in found.split()

    return compared(expected, lambda: {pair: breaks(*pair) for pair in pairs})


def _extracted(profile: str) -> Certificate:
    known, more = tables.EXTRACTED[profile], tables.IN_VEC
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
            for element in tables.ELEMENTS
        },
        breaks,
    )


def _sizes(profile: str) -> Certificate:
    size = {element: bytes_ for bytes_, elements in tables.BYTES.items() for element in elements}
    rules = {"tload": "move-types", "tstore": "move-types", "tmov": "vec-size"}
    pairs = list(product(rules, ("i8", "f16", "f32", "i64"), tables.ELEMENTS))
    expected = {(name, source, target): size[source] != size[target] for name, source, target in pairs}

    def breaks(operation: str, source: str, target: str) -> bool:
        ends = {"tload": ("view", "vec"), "tstore": ("vec", "view"), "tmov": ("vec", "vec")}[operation]
        spelled = [
            f"{end} 64x64x{element}" + (" ND" if end == "vec" else "")
            for end, element in zip(ends, (source, target), strict=True)
        ]
        return rules[operation] in _judged(operation, spelled[0], spelled[1], "-", profile).split()

    return compared(expected, lambda: {pair: breaks(*pair) for pair in pairs})


MODULES_SOURCE = "pto-isa headers at 3186c381: TASSIGN, TMATMUL_ACC, aliases of tiles; PTO IR manual"


modules = table_theorem(
    "pto/legal/modules",
    "statements, declarations and addresses of a text are judged where they stand",
    "∀ lines of the listed text, ∀ profiles: what is judged there and the rules that it breaks; which "
    "statements leave something undecided; the tiles that short types stand for, and remarks on them; moves "
    "of tiles whose place is not known leave others where their extents say; the "
    "integers that constants are; the processor that a text names, and that it is the same from any file",
    MODULES_SOURCE,
    lambda: {
        "lines": _lines,
        "undecided": _undecided,
        "tiles": _tiles,
        "remarks": _remarks,
        "integers": _integers,
        "targets": _targets,
        "short": _short,
    },
)


def _lines() -> Certificate:
    expected: dict[str, object] = dict(stated.WRONG)
    expected |= {f"{profile}, whole": (_broken(lines), True) for profile, lines in stated.WRONG.items()}
    expected |= {"two": stated.PLACES, "one": ("",)}

    def specified() -> Iterator[tuple[str, object]]:
        module = parse_module(stated.TEXT)
        for name, text in (("two", stated.TWO), ("one", stated.TWO[: stated.TWO.rindex("%a")])):
            judgement = judge_module(parse_module(text), PROFILES["A5"])
            yield name, tuple(_place(violation.message) for violation in judgement.violations)
        for profile in stated.WRONG:
            lines = []
            for line, name, judgement in judged_statements(module.body, PROFILES[profile]):
                rules = sorted(violation.rule.id for violation in judgement.violations)
                lines.append(" ".join((str(line), name, *rules)))
            yield profile, tuple(lines)
            whole = judge_module(module, PROFILES[profile])
            said = [str(violation) for violation in whole.violations]
            places = all(text.partition(": ")[2].startswith("line ") for text in said)
            notes = any(stated.UNKNOWN in str(note) for note in whole.notes)
            yield f"{profile}, whole", (sorted(each.rule.id for each in whole.violations), places and notes)

    return compared(expected, specified)


def _targets() -> Certificate:

    def specified(text: str) -> tuple[str | None, bool]:
        module = parse_module(text)
        return module.target, module == parse_module(text, "a.pto")

    return answered({text: (target, True) for text, target in stated.TARGETS.items()}, specified)


def _place(message: str) -> str:
    """Return what a message begins with: the line and the statement, or nothing."""
    before, colon, _ = message.partition(": ")
    return before + colon if before.startswith("line ") else ""


def _broken(lines: tuple[str, ...]) -> list[str]:
    named = (word for line in lines for word in line.split()[2:] if not word.startswith("%"))
    return sorted(named)


def _undecided() -> Certificate:
    def profiles(judged: Mapping[str, Judgement], is_undecided: Callable[[Note], bool]) -> str:
        return " ".join(name for name, found in judged.items() if any(map(is_undecided, found.notes)))

    def specified() -> Iterator[tuple[str, tuple[str, str]]]:
        for text in stated.UNDECIDED:
            module = parse_module(text)
            judged = {name: judge_module(module, profile) for name, profile in PROFILES.items()}
            yield (
                text,
                (
                    profiles(judged, lambda note: note.kind is NoteKind.UNDECIDED),
                    profiles(judged, lambda note: "undecided" in str(note)),
                ),
            )

    return compared({text: (names, names) for text, names in stated.UNDECIDED.items()}, specified)


def _short() -> Certificate:
    expected = {(text, name): rules for text, rules in stated.SHORT_MOVES.items() for name in PROFILES}
    unplaced = "%t = pto.tmov %s : (!pto.tile<loc=mat, {}, 1, 32>) -> !pto.tile<1x32x{}>"
    for types, refusing in stated.UNPLACED.items():
        for name in PROFILES:
            wrong = "move-types" if name in refusing.split() else ""
            expected[unplaced.format(*types), name] = wrong
    return answered(expected, lambda *at: " ".join(sorted(broken_rules("pto", *at))))


def _spelled(tile: Tile) -> str:
    text = (
        f"{tile.location} {tile.element} {tile.rows}x{tile.columns} valid {tile.valid_rows}x"
        f"{tile.valid_columns} {tile.blocks} {tile.inner} {tile.fractal}"
    )
    pad = f" pad {tile.pad.value}" if tile.pad is not Pad.NULL else ""
    return text + pad + (f" compact {tile.compact.value}" if tile.compact is not Compact.NULL else "")


def _tiles() -> Certificate:
    return answered(
        stated.TILES,
        lambda text, role, profile: _spelled(resolve_known(parse(text), PROFILES[profile]).tiles[role]),
    )


def _remarks() -> Certificate:
    return answered(
        stated.REPLACED, lambda text, profile: len(resolve_known(parse(text), PROFILES[profile]).notes)
    )


def _integers() -> Certificate:
    def integer(text: str) -> int | None:
        (statement,) = parse_module(f"%a = arith.constant {text}").body
        assert isinstance(statement, ConstantDefinition)
        return statement.integer

    def specified() -> Mapping[str, object]:
        here, there = (parse_module(text).body for text in ("x.y %a", "x.z\n\n   x.y %a"))
        same = here.statements[0] == there.statements[1]
        return {**{text: integer(text) for text in stated.INTEGERS}, "the same elsewhere": same}

    return compared({**stated.INTEGERS, "the same elsewhere": True}, specified)


THEOREMS = (
    moves,
    routes,
    converted,
    modules,
)
