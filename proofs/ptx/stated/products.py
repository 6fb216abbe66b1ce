"""The tables of ``mma``, ``mma.sp`` and ``wmma.mma``: what may be multiplied, with how many registers, where.

Every row is a set of instructions. Sources: PTX ISA 9.1, the shapes and types of section 9.7.14.2, the
fragments' tables of 9.7.14.4 to 9.7.14.6 (registers), the target and ISA notes of each instruction (targets,
versions), the tables of block scaling of 9.7.14.3, the notes on the sparsity selector of 9.7.14.6; ptxas.
"""

from __future__ import annotations

from itertools import product

from ...text_tables import table

SELECTORS = {
    "1X": ("0 1 2 3", "0 1", "0 1 2 3", "0 1 2 3"),
    "2X": ("0 2", "0 1", "0 2", "0 1 2 3"),
    "4X": ("0", "0 1", "0", "0 1 2 3"),
}
"""Byte-id and thread-id of A, byte-id and thread-id of B, by the vector size of block scaling."""

GROUPS = {"narrow": ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")}
"""Element types by the name that rows have for them."""

KINDS = ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
ROUNDINGS = ("rn", "rz", "rm", "rp")
LAYOUTS = ("row", "col")
WMMA_SPACES = ("", ".global", ".shared", ".shared::cta")

Entry = tuple[str, tuple[str, ...], tuple[str, str]]
"""Mnemonic, operands (``name registers`` or ``name values``), and PTX version and targets."""


def _numbers(text: str) -> str:
    return ",".join(text.split())


def _modifiers(more: str) -> list[tuple[str, str, str]]:
    """Return what stands before the types, behind them, and the type of scale factors, for each spelling."""
    words = more.split()
    if "satfinite" in words:
        return [("", "", ""), (".satfinite", "", "")]
    if "rounding" in words:
        return [("", "", ""), *(("", f".{rounding}", "") for rounding in ROUNDINGS)]
    if words and words[0] in ("xor", "and"):
        return [("", f".{words[0]}.popc", "")]
    if words == ["f8f6f4"]:
        return [(".kind::f8f6f4", "", "")]
    if words and words[0] in KINDS:
        kind, size, scale_type = words[:3]
        sizes = [f".scale_vec::{size}", *([""] if "default" in words else [])]
        return [(f".kind::{kind}.block_scale{spelled}", "", f".{scale_type}") for spelled in sizes]
    return [("", "", "")]


def _registers(row: dict[str, str]) -> list[str]:
    d_type, c_type = row["D.C"].split(".")
    d, a, b = row["D"], row["A"], row["B"]
    c = d if c_type == d_type else {"f16": "4", "f32": "8"}[c_type]
    return [f"d {d}", f"a {a}", f"b {b}", f"c {c}"]


def _scales(more: str) -> list[str]:
    words = more.split()
    if not words or words[0] not in KINDS[1:]:
        return []
    byte_a, thread_a, byte_b, thread_b = map(_numbers, SELECTORS[words[1]])
    return ["scale_a", f"selectors_a {byte_a} x {thread_a}", "scale_b", f"selectors_b {byte_b} x {thread_b}"]


def multiplications() -> list[Entry]:
    """Return every ``mma`` and ``mma.sp``, a row once for each spelling of what may be left out."""
    found = []
    for row in table(__package__, "mma"):
        layouts = product(LAYOUTS, LAYOUTS) if row["more"] == "any layouts" else [("row", "col")]
        operands = (*_registers(row), *_scales(row["more"]))
        where = row["PTX"], row["targets"]
        for (of_a, of_b), mnemonic in product(layouts, _spelled(row)):
            text = mnemonic.format(f"mma.sync.aligned.{row['shape']}.{of_a}.{of_b}")
            found.append((text, operands, where))
    for row in table(__package__, "mma_sp"):
        sparse = ("metadata", f"selector {_numbers(row['sel'])}")
        operands = (*_registers(row), *sparse, *_scales(row["more"]))
        for column, opcode in (("sp", "mma.sp"), ("ordered", "mma.sp::ordered_metadata")):
            for mnemonic in _spelled(row) if row[column] else ():
                text = mnemonic.format(f"{opcode}.sync.aligned.{row['shape']}.row.col")
                found.append((text, operands, (row[column], row["targets"])))
    return found


def _spelled(row: dict[str, str]) -> list[str]:
    (d, c) = row["D.C"].split(".")
    types = GROUPS.get(row["A B"]) or row["A B"].split()
    return [
        f"{{}}{before}.{d}.{a}.{b}.{c}{scale}{behind}"
        for a, b in product(types, types)
        for before, behind, scale in _modifiers(row["more"])
    ]


def wmma() -> list[Entry]:
    """Return every ``wmma``: loads and stores of each operand, and products."""
    registers = {(row["shape"], row["type"]): row for row in table(__package__, "wmma_registers")}
    found: list[Entry] = []
    for row in table(__package__, "wmma"):
        shape, ab, where = row["shape"], row["A B"], (row["PTX"], row["targets"])
        counts = registers[shape, ab]
        accumulator = dict(part.split(":") for part in counts["C and D"].split())
        free = row["layouts"] == "any"
        for role, types, layouts in (
            ("a", {ab: counts["A"]}, LAYOUTS if free else ("row",)),
            ("b", {ab: counts["B"]}, LAYOUTS if free else ("col",)),
            ("c", accumulator, LAYOUTS),
            ("d", accumulator, LAYOUTS),
        ):
            if row["more"] != "and":  # loads and stores came with the first operation
                found += _wmma_moves(shape, role, types, layouts, where)
        for pair, (of_a, of_b), (_, behind, _) in product(
            row["D.C"].split(),
            product(LAYOUTS, LAYOUTS) if free else [("row", "col")],
            _modifiers(row["more"]) if row["more"] != "satfinite" else [("", "", ""), ("", ".satfinite", "")],
        ):
            d, c = pair.split(".")
            types_text = f"{d}.{c}" if ab == "f16" else f"{d}.{ab}.{ab}.{c}"
            head = f"wmma.mma{behind if 'popc' in behind else ''}.sync.aligned.{of_a}.{of_b}.{shape}"
            rounding = behind if row["more"] == "rounding" else ""
            saturation = behind if row["more"] == "satfinite" else ""
            operands = (f"d {accumulator[d]}", f"a {counts['A']}", f"b {counts['B']}", f"c {accumulator[c]}")
            found.append((f"{head}{rounding}.{types_text}{saturation}", operands, where))
    return found


def _wmma_moves(
    shape: str, role: str, types: dict[str, str], layouts: tuple[str, ...], where: tuple[str, str]
) -> list[Entry]:
    stored = role == "d"
    opcode = "wmma.store.d" if stored else f"wmma.load.{role}"
    found: list[Entry] = []
    for (element, count), layout, space in product(types.items(), layouts, WMMA_SPACES):
        held = f"{role} {count}"
        operands = ("p", held, "stride") if stored else (held, "p", "stride")
        found.append((f"{opcode}.sync.aligned.{layout}.{shape}{space}.{element}", operands, where))
    return found
