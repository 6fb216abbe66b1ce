"""Which products and statements PTO's profiles take, and who checks it: as the headers' tables decide."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files
from itertools import product
from typing import Any

from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.contradictions import CONTRADICTIONS
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.legality import RULES, judge
from ...spec.pto.resolution import Resolved, applied
from ...spec.pto.rules.enforcement import PtoRule, RuleKind, findings
from ...spec.pto.rules.tiles import ADDRESS_RULES
from ...spec.pto.targets import PROFILES
from ...spec.pto.tile import DYNAMIC, Compact, Extent, Location, Order, Tile
from ..comparison import broken_rules, compared
from ..families.witnesses import witnesses
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from ..text_tables import rows
from .stated import names as spelling
from .stated import tables
from .stated import tables as stated_rules
from .stated.names import SpelledTile, operand


def stated_table(name: str) -> list[list[dict[str, str]]]:
    """Return the tables of a file of `stated`: an empty line is between them."""
    text = files(f"{__package__}.stated").joinpath(name).read_text(encoding="utf-8")
    return [rows(table) for table in text.split("\n\n")]


@cache
def spelled_tile(text: str, profile: str) -> Tile:
    """Return the tile that a table spells for a profile.

    Raises
    ------
    ValueError
        If it is the type of something else.
    """
    spelled = operand(text, profile)
    if not isinstance(spelled, SpelledTile):
        raise ValueError(f"{text} is no tile")
    rows_valid, columns_valid = map(_extent, spelled.valid)
    return Tile(
        Location(spelled.place), ELEMENT_TYPES[spelled.element], spelled.rows, spelled.columns, rows_valid,
        columns_valid, Order(spelled.blocks), Order(spelled.inner), spelled.fractal,
        compact=Compact(spelled.compact),
    )  # fmt: skip


def _extent(text: str) -> Extent:
    return DYNAMIC if text == "?" else int(text)


def rules_of(resolved: Resolved) -> str:
    """Return the rules that a statement breaks, then in parentheses those that forbid nothing; else ``-``."""
    found = {
        violation.rule.id if kind.forbids else f"({violation.rule.id})"
        for kind, violation in findings(RULES, resolved, resolved.profile, resolved.operation)
    }
    return " ".join(sorted(found, key=lambda name: (name.startswith("("), name))) or "-"


SOURCE = "pto-isa headers at 3186c381: TMatmul.hpp, pto_tile.hpp, TASSIGN; ptoas at a56b18c3"


def _tile(location: str, profile: str, extent: str, element: str) -> str:
    """Spell the predefined tile of a location as ptoas does."""
    blocks, inner, fractal, _ = tables.ALIASES[profile, location]
    where = location.partition("_")[0].replace("scale", "scaling")
    return f"!pto.tile_buf<{where}, {extent}x{element}, blayout={blocks}, slayout={inner}, fractal={fractal}>"


def product_text(operation: str, profile: str, c: str, a: str, b: str, bias: str | None = None) -> str:
    """Spell a product of 64 x 64 x 64 with these element types; one row, in a block of 16, for ``tgemv``."""
    m = 1 if operation.startswith("tgemv") else 64
    rows = 64 if m == 64 else 1 if profile == "CPU" else 16
    acc = _tile("acc", profile, f"{rows}x64", c).replace("fractal", f"valid={m}x64, fractal")
    tiles = [("%a", _tile("left", profile, f"{m}x64", a)), ("%b", _tile("right", profile, "64x64", b))]
    if ".mx" in operation:
        factors = [_tile("scale_left", profile, f"{m}x2", "f8E8M0FNU")]
        factors += [_tile("scale_right", profile, "2x64", "f8E8M0FNU")]
        tiles = [tiles[0], ("%sa", factors[0]), tiles[1], ("%sb", factors[1])]
    if operation.endswith(".acc"):
        tiles = [("%c", acc), *tiles]
    if operation.endswith(".bias"):
        tiles.append(("%bias", _tile("bias", profile, "1x64", bias or c)))
    names, types = (", ".join(part) for part in zip(*tiles, strict=True))
    result = "%c" if operation.endswith(".acc") else "%d"
    return f"pto.{operation} ins({names} : {types}) outs({result} : {acc})"


types = table_theorem(
    "pto/legal/types",
    "a product takes exactly the element types that the headers list",
    "∀ profiles, products, ∀ element types of C, A and B among 3 x 12 x 12: no rule is broken if the table "
    "has the triple for the profile; else type-triple is broken, or the profile has no such product",
    SOURCE,
    lambda: {
        f"{operation}/{profile}": partial(_types, profile, operation)
        for profile, operation in product(tables.PROFILES, ("tmatmul", "tmatmul.mx"))
    },
)


def _types(profile: str, operation: str) -> Certificate:
    column = "mx" if ".mx" in operation else "plain"
    expected: dict[tuple[str, str, str], str] = {}
    for types in product(tables.ACCUMULATORS, tables.FACTORS, tables.FACTORS):
        legal = (profile, column, *types) in tables.TRIPLES
        absent = profile == "A2A3" and column == "mx"
        expected[types] = "legal" if legal else "profile" if absent else "type-triple"

    def judged(c: str, a: str, b: str) -> str:
        tiles = {"a": f"left 64x64x{a} L", "b": f"right 64x64x{b} Zn", "d": f"acc 64x64x{c} Nz"}
        if column == "mx":
            tiles |= {"scale_a": "scale_left 64x2xf8E8M0FNU Zz", "scale_b": "scale_right 2x64xf8E8M0FNU Nn"}
        declared = {role: spelled_tile(text, profile) for role, text in tiles.items()}
        found = judge(applied(OPERATIONS[operation], declared, PROFILES[profile]))
        return _verdict(frozenset(violation.rule.id for violation in found.violations))

    return answered(expected, judged)


def _verdict(rules: frozenset[str]) -> str:
    """Return the rule of interest: whether the element types go together."""
    if not rules:
        return "legal"
    known = [rule for rule in ("profile", "type-triple", "bias-type") if rule in rules]
    return known[0] if known else " ".join(sorted(rules))


operations = table_theorem(
    "pto/legal/operations",
    "every product takes the types of its table, with accumulators and biases of the same type",
    "∀ products, profiles, triples of the tables: legal ⇔ the profile has the triple; with a bias of another "
    "type bias-type is broken",
    SOURCE,
    lambda: {
        stem + form: partial(_operation, stem + form)
        for stem, form in product(("tmatmul", "tmatmul.mx", "tgemv", "tgemv.mx"), ("", ".acc", ".bias"))
    },
)


def _operation(operation: str) -> Certificate:
    column = "mx" if ".mx" in operation else "plain"
    triples = sorted({triple[2:] for triple in tables.TRIPLES})
    expected: dict[tuple[str, ...], str] = {}
    for profile, triple in product(tables.PROFILES, triples):
        legal = (profile, column, *triple) in tables.TRIPLES
        absent = profile == "A2A3" and column == "mx"
        verdict = "legal" if legal else "profile" if absent else "type-triple"
        expected[profile, *triple] = verdict
        if operation.endswith(".bias") and legal:
            expected[profile, *triple, "f16"] = "bias-type"
    return answered(expected, lambda *at: _verdict(broken_rules("pto", product_text(operation, *at), at[0])))


kinds = table_theorem(
    "pto/legal/kinds",
    "who checks a rule, for each profile and operation, is what the headers, ptoas and pages say",
    "∀ rules, operations and profiles: the kind (static, run-time, debug-only, silent, assembler-only, "
    "page-only, unspecified), or that the rule does not hold there, is that of the table written down from "
    "them; so are which kinds forbid, and the contradictions that a rule cites",
    SOURCE,
    lambda: {"table": _kinds},
)


def _kinds() -> Certificate:
    expected: dict[tuple[str, ...], object] = {(rule,): cited for rule, cited in stated_rules.CITED.items()}
    expected |= dict(stated_rules.KINDS.items())
    expected |= {("forbidding",): frozenset(stated_rules.FORBIDDING)}

    def specified() -> Iterator[tuple[tuple[str, ...], object]]:
        yield from {("forbidding",): frozenset(kind.value for kind in RuleKind if kind.forbids)}.items()
        rules: tuple[PtoRule[Any], ...] = (*RULES, *ADDRESS_RULES)
        for rule in rules:
            yield (
                (rule.id,),
                tuple(CONTRADICTIONS.index(contradiction) + 1 for contradiction in rule.contradictions),
            )
            for name, operation in OPERATIONS.items():
                for profile in PROFILES.values():
                    if (kind := rule.kind(profile, operation)) is not None:
                        yield (rule.id, name, profile.name), str(kind)

    return compared(expected, specified)


products = table_theorem(
    "pto/legal/products",
    "products on tiles break the rules that the headers' conditions name, and no others",
    "∀ listed products and changes of an operand, ∀ profiles: the rules broken (and in parentheses those "
    "that only ptoas or pages state) are the listed ones: on places, extents, distances between blocks, "
    "orders, sizes on both sides of their limits, biases and scale factors",
    SOURCE,
    lambda: {profile: partial(_products, profile) for profile in tables.PROFILES},
)


def _products(profile: str) -> Certificate:
    """Compare with the table of verdicts.

    Its cells were printed by the specification and read. That the conditions of the headers give each of
    them is shown without it, in tests/proofs/pto/test_product_verdicts_derived.py.
    """
    whole, changes = stated_table("products.txt")
    declared = {row["name"]: (row["operation"], row["operands"]) for row in whole}

    def judged(name: str, change: str) -> str:
        operation, operands = declared[name]
        spelled = spelling.named(operands) | spelling.named(change)
        tiles = {role: spelled_tile(text, profile) for role, text in spelled.items()}
        return rules_of(applied(OPERATIONS[operation], tiles, PROFILES[profile]))

    return answered({(row["product"], row["change"]): row[profile] for row in changes}, judged)


rules = witnesses(
    "pto",
    "the statements written down for the rule break it and no other; with one type, extent, place or the "
    "profile changed they break none",
    SOURCE,
    partial(broken_rules, "pto"),
)


phases = table_theorem(
    "pto/legal/phases",
    "products have the phases of the headers, on each profile that has any",
    "∀ products without scale factors, profiles and listed values of accPhase: phase-value is broken ⇔ the "
    "headers have no such phase; on the simulator an accumulating tmatmul with any breaks phase-on-cpu, and "
    "no other product does",
    "pto-isa headers at 3186c381, AccPhase and TMATMUL_ACC; ptoas at a56b18c3",
    lambda: {profile: partial(_phases, profile) for profile in tables.PROFILES},
)


def _phases(profile: str) -> Certificate:
    operations = ("tmatmul", "tmatmul.acc", "tmatmul.bias", "tgemv", "tgemv.acc", "tgemv.bias")
    expected: dict[tuple[str, str], frozenset[str]] = {}
    for operation, (value, known) in product(operations, stated_rules.PHASES.items()):
        wrong = set() if known else {"phase-value"}
        if (operation, profile) == ("tmatmul.acc", "CPU"):
            wrong.add("phase-on-cpu")
        expected[operation, value] = frozenset(wrong)

    def broken(operation: str, value: str) -> frozenset[str]:
        text = f"{product_text(operation, profile, 'f32', 'f16', 'f16')} {{accPhase = {value}}}"
        return broken_rules("pto", text, profile) & {"text", "phase-value", "phase-on-cpu"}

    return answered(expected, broken)


fractal_names = table_theorem(
    "pto/legal/fractal-names",
    "a tile in the pages' spelling is called NZ or ZN only if its blocks and boxes are so ordered",
    "∀ orders of blocks and inside, ∀ names of fractals: fractal-name is broken ⇔ the name is NZ or ZN and "
    "the layout page has another one for the two orders",
    "pto-isa layout page at 3186c381; ptoas at a56b18c3, TileBufConfig",
    lambda: {profile: partial(_fractal_names, profile) for profile in tables.PROFILES},
)


def _fractal_names(profile: str) -> Certificate:

    def broken(blocks: str, inner: str, name: str) -> frozenset[str]:
        right = f"!pto.tile<loc=right, f16, 64, 64, {blocks}, {inner}, {name}, Null>"
        left = "!pto.tile<loc=left, f16, 64, 64, ColMajor, RowMajor, NZ, Null>"
        acc = "!pto.tile<loc=acc, f32, 64, 64, ColMajor, RowMajor, NZ, Null>"
        text = f"%d = pto.tmatmul %a, %b : ({left}, {right}) -> {acc}"
        return broken_rules("pto", text, profile) & {"text", "fractal-name"}

    return answered(
        {
            (blocks, inner, name): frozenset({"fractal-name"} if name in ("NZ", "ZN") and name != own else ())
            for (blocks, inner), own in stated_rules.ORDERED.items()
            for name in ("None", "NZ", "ZN", "ZZ", "NN", "FR", "RN")
        },
        broken,
    )


THEOREMS = (
    types,
    operations,
    kinds,
    products,
    rules,
    phases,
    fractal_names,
)
