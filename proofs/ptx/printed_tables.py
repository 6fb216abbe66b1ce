"""The printed table of PTX instructions, read again as the sets of instructions that its rows stand for.

What is stated is that of `documented`: the manual's tables. Here the cells are texts that a reader sees; a
load or store of ``wmma``, and a matrix move, stands for itself in every state space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

from ...spec.instruction_set import instruction_set
from ...spec.ptx.targets import Version
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import table_theorem
from .documented import SOURCE, TABLES, Stated, earliest, stated_instructions
from .stated import combinations, texts

Row = Mapping[str, str]
Rows = dict[str, tuple[Stated, str]]
"""Operands, the lowest version by target, and what else is said, by mnemonic."""

EXTENTS = {"a": "mk", "b": "kn"}
"""Axes of an operand that `wmma` may hold more than once."""

SECTIONS = {
    "mma": "5",
    "mma.sp": "6",
    "wmma": "4",
    "ldmatrix": "5.15",
    "stmatrix": "5.16",
    "movmatrix": "5.17",
}
"""Where section 9.7.14 of the manual is about an instruction; block scaling of dense ones is in its third."""


printed_tables = table_theorem(
    "ptx/stated/printed-tables",
    "the printed table of instructions stands for the manual's, with their operands, targets and versions",
    "mnemonic ↦ (registers of every operand, legal selectors, lowest PTX version by target, and what a "
    "nibble of metadata picks, how often the warp holds an element, and the section), read from the rows "
    "that `mmaproof tables` prints, is the table written down from the manual, without state spaces; the "
    "columns of every table are the listed ones",
    SOURCE,
    lambda: {**{name: partial(_printed, name) for name in TABLES}, "columns": _columns},
)


COLUMNS = {
    "instructions": "instruction, shape, A x B, D <- C, moved, layouts A.B, modifiers, kind, scale factors, "
    "metadata, registers, selectors, PTX, targets, source",
    "rules": "rule, reason, source, contradictions",
    "contradictions": "contradiction, who, says, taken here, source",
    "machine-code": "instruction, shape, A x B, D <- C, sm_75, sm_80, sm_89, sm_90a, sm_100a, sm_120a",
    "scalar": "instruction, types, modifiers, operands, ptx, targets, source",
    "asynchronous": "instruction, modifiers, operands, ptx, targets, later, effect, source",
    "tensor-products": "kind, form, D, A x B, scale factors, M, N, K, source",
    "descriptor-fields": "word, bits, field, values, source",
}
"""What the columns of the tables are called."""


def _columns() -> Certificate:
    return compared(
        {name: {columns} for name, columns in COLUMNS.items()},
        lambda: {
            name: {", ".join(row) for row in rows()} for name, rows in instruction_set("ptx").tables.items()
        },
    )


def _printed(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    expected = {text: (entry, _more(text, entry[0])) for text, entry in listed.items() if _has_no_space(text)}
    return compared(expected, lambda: _read(name))


def _has_no_space(text: str) -> bool:
    return not {"shared", "global", "shared::cta"} & set(text.split("."))


def _more(text: str, operands: tuple[str, ...]) -> str:
    """Return what a row says besides: the manual's section, kept columns, and copies of an element."""
    opcode, modifiers, _, types = combinations.meaning(text)
    if opcode.startswith("wgmma"):
        kept = ", 1:2" if "tf32" in types else ", 2:4"
        return f"PTX ISA 9.7.15; ptxas{kept * ('.sp' in opcode)}"
    section = SECTIONS["wmma" if opcode.startswith("wmma") else opcode.partition("::")[0]]
    if opcode == "mma" and "block_scale" in modifiers:
        section = "3"
    said = [f"PTX ISA 9.7.14.{section}; ptxas"]
    if opcode.startswith("mma.sp"):
        of_bytes = modifiers & {"kind::mxf4", "kind::mxf4nvf4"} or set(types) & {"s4", "u4"}
        said.append("1:2" if "tf32" in types else "4:8" if of_bytes else "2:4")
    if opcode == "wmma.mma":
        (shape,) = (part for part in modifiers if re.fullmatch(r"m\d+n\d+k\d+", part))
        extents = dict(re.findall(r"([mnk])(\d+)", shape))
        bits = _bits(types[1] if len(types) > 2 else "f16")
        for role, axes in EXTENTS.items():
            (count,) = (operand.partition(" ")[2] for operand in operands if operand.startswith(f"{role} "))
            held = 32 * int(count) * max(1, 32 // bits)
            elements = int(extents[axes[0]]) * int(extents[axes[1]])
            said += [f"{role.upper()} x{held // elements}"] * (held > elements)
    return ", ".join(said)


def _bits(element_type: str) -> int:
    return 32 if element_type == "tf32" else int(re.sub(r"\D*", "", element_type))


def _read(name: str) -> Rows:
    """Return the instructions of the rows of a table, as `documented` has those of the manual's."""
    reads = {"mma": _products, "wmma": _wmma, "matrix-move": _moves, "wgmma": _wgmma}[name]
    found: Rows = {}
    for row in instruction_set("ptx").tables["instructions"]():
        opcode = row["instruction"].partition(".")[0]
        if name == (opcode if opcode in TABLES else "matrix-move"):
            for text, operands, since, more in reads(row):
                (_, before), _ = found.get(text, ((operands, since), more))
                found[text] = (operands, earliest(before, since)), more
    return found


Instruction = tuple[str, tuple[str, ...], dict[str, Version], str]


def _pairs(cell: str, between: str) -> list[tuple[str, str]]:
    """Return the pairs of ``{f16, f32} <- {f16, f32}``, a product of sets, or of ``s8 x s8, u8 x u8``."""
    if cell.startswith("{"):
        sides = [side.strip("{}").split(", ") for side in cell.split(between)]
        return [(one, other) for one, other in product(*sides)]
    return [(one, other) for one, other in (pair.split(between) for pair in cell.split(", "))]


def _since(version: str, on: str) -> dict[str, Version]:
    names = texts.named(on) if on.endswith("+") else on.split(", ")
    return dict.fromkeys(names, texts.version(version))


def _counts(cell: str) -> dict[str, str]:
    """Return the registers of ``C/D f16:4 A:2``, by what stands before each."""
    return dict(re.findall(r"([^:]+):(\d+) ?", cell))


def _products(row: Row) -> Iterator[Instruction]:
    """Yield the instructions of a row of ``mma`` or ``mma.sp``."""
    counts, before, behind, scale = _counts(row["registers"]), [""], [""], ""
    modifiers = row["modifiers"].split()
    if modifiers == [".satfinite"]:
        before = ["", ".satfinite"]
    elif modifiers:
        behind = modifiers if modifiers[0].endswith(".popc") else ["", *modifiers]
    if row["kind"]:
        before = [f".kind::{row['kind']}"]
    if row["scale factors"]:
        vector, *default, factor = row["scale factors"].split(", ")
        sizes = [f".{vector}", *[""] * (default == ["default"])]
        before, scale = [f"{before[0]}.block_scale{size}" for size in sizes], f".{factor}"
    selectors = dict(each.split(": ") for each in row["selectors"].split("; ") if each)
    values = {name: re.sub(r"[{}]", "", each) for name, each in selectors.items()}
    others = [*(["metadata", f"selector {values['selector']}"] if row["metadata"] else [])]
    for side in "ab" if scale else "":
        others += [f"scale_{side}", f"selectors_{side} {values[f'selectors_{side}']}"]
    more = ", ".join(filter(None, (row["source"], row["metadata"])))
    for (of_a, of_b), (d, c), (a, b), first, last in product(
        _pairs(row["layouts A.B"], "."), _pairs(row["D <- C"], " <- "), _pairs(row["A x B"], " x "),
        before, behind,
    ):  # fmt: skip
        text = f"{row['instruction']}.sync.aligned.{row['shape']}.{of_a}.{of_b}{first}.{d}.{a}.{b}.{c}"
        held = (f"d {counts[f'C/D {d}']}", f"a {counts['A']}", f"b {counts['B']}", f"c {counts[f'C/D {c}']}")
        yield f"{text}{scale}{last}", (*held, *others), _since(row["PTX"], row["targets"]), more


def _wmma(row: Row) -> Iterator[Instruction]:
    """Yield the instructions of a row of ``wmma``: loads and stores, then products."""
    counts, shape, source = _counts(row["registers"]), row["shape"], row["source"]
    layouts = _pairs(row["layouts A.B"], ".")
    modifiers = row["modifiers"].split()
    operations = [modifier for modifier in modifiers if modifier.endswith(".popc")]
    of_operation = {
        f".{name}.popc" if name else "": _since(version, on)
        for (version, name), (on, _) in zip(
            *(re.findall(r"(\S+)(?: \((\w+)\))?(?:, |$)", row[column]) for column in ("PTX", "targets")),
            strict=True,
        )
    }
    first = next(iter(of_operation.values()))
    for name, count in counts.items():
        role, element_type = name.split(" ")
        any_layout, moved = ["row", "col"], f"{role} {count}"
        for layout in dict.fromkeys(
            any_layout if role in "cd" else [pair["ab".index(role)] for pair in layouts]
        ):
            opcode = "wmma.store" if role == "d" else "wmma.load"
            operands = ("p", moved, "stride") if role == "d" else (moved, "p", "stride")
            yield f"{opcode}.{role}.sync.aligned.{layout}.{shape}.{element_type}", operands, first, source
    copies = row["moved"].removeprefix("elements held more than once: ")
    roundings = [modifier for modifier in modifiers if modifier in (".rn", ".rz", ".rm", ".rp")]
    saturations = [modifier for modifier in modifiers if modifier == ".satfinite"]
    for (of_a, of_b), (d, c), (a, b), operation, rounding, saturated in product(
        layouts, _pairs(row["D <- C"], " <- "), _pairs(row["A x B"], " x "),
        operations or [""], ["", *roundings], ["", *saturations],
    ):  # fmt: skip
        types = f"{d}.{c}" if a == b == "f16" else f"{d}.{a}.{b}.{c}"
        text = f"wmma.mma{operation}.sync.aligned.{of_a}.{of_b}.{shape}{rounding}.{types}{saturated}"
        held = tuple(
            f"{role} {counts[f'{role} {name}']}" for role, name in zip("dabc", (d, a, b, c), strict=True)
        )
        yield text, held, of_operation[operation], ", ".join(filter(None, (source, copies)))


def _columns_of(text: str) -> list[int]:
    """Return the numbers of ``8, 16, 48 to 256 by 16``."""
    found: list[int] = []
    for part in text.split(", "):
        ends, _, step = part.partition(" by ")
        first, _, last = ends.partition(" to ")
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found


def _wgmma(row: Row) -> Iterator[Instruction]:
    """Yield the instructions of a row of ``wgmma``."""
    since = _since(row["PTX"], row["targets"])
    if not row["shape"]:
        operands = ("N",) if row["instruction"] == "wgmma.wait_group" else ()
        yield f"{row['instruction']}.sync.aligned", operands, since, row["source"]
        return
    shape, columns = row["shape"].split(", N = ")
    counts = dict(re.findall(r"(\w+):(?:N/)?(\d+)", row["registers"]))
    values = dict(each.split(": ") for each in row["selectors"].split("; "))
    listed = {name: re.sub(r"[{}]", "", each) for name, each in values.items() if each.startswith("{")}
    behind = [f"{name} {listed[name]}" if name in listed else name for name in list(values)[2:]]
    metadata = ["metadata"] if row["metadata"] else []
    before = ["", *(each for each in row["modifiers"].split() if each == ".satfinite")]
    popc = "".join(each for each in row["modifiers"].split() if each != ".satfinite")
    more = ", ".join(filter(None, (row["source"], row["metadata"])))
    for n, (d, c), (a, b), saturated in product(
        _columns_of(columns), _pairs(row["D <- C"], " <- "), _pairs(row["A x B"], " x "), before
    ):
        assert c == d and list(values)[:2] == ["a-desc", "b-desc"]
        held = f"d {n // int(counts[d])}"
        one = (held, "a-desc", "b-desc", *metadata, *behind)
        other = (held, f"a {counts['A']}", "b-desc", *metadata, *(x for x in behind if "trans-a" not in x))
        text = f"{row['instruction']}.sync.aligned.{shape.replace('N', str(n))}{saturated}.{d}.{a}.{b}{popc}"
        yield text, (*one, "or", *other), since, more


def _moves(row: Row) -> Iterator[Instruction]:
    """Yield the instructions of a row of matrix moves."""
    *_, trans = row["modifiers"].split()
    spelled = {"optional": ["", ".trans"], "mandatory": [".trans"], "forbidden": [""]}[trans]
    counts, opcode = _counts(row["registers"]), row["instruction"]
    for (count, registers), trans in product(counts.items(), spelled):
        held = f" {registers}"
        number = f".{count}"
        if opcode == "movmatrix":
            assert count == "a, d"
            number, held = "", held * (registers != "1")
        loaded, stored = f"d{held}", f"a{held}"
        operands = {"ldmatrix": (loaded, "p"), "stmatrix": ("p", stored)}.get(opcode, (loaded, stored))
        text = f"{opcode}.sync.aligned.{row['shape']}{number}{trans}.{row['moved']}"
        yield text, operands, _since(row["PTX"], row["targets"]), row["source"]


THEOREMS = (printed_tables,)
