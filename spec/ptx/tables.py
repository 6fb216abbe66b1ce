"""The constraint tables of the PTX matrix instructions, generated from the catalogue and the rules."""

from __future__ import annotations

from collections.abc import Iterable

from .. import tables as of_all
from .catalogue import ALL_FORMS, Form
from .contradictions import CONTRADICTIONS
from .forms import ProductRow
from .legality import RULES
from .machine_code import machine_code
from .matrix_move_forms import MatrixMoveForm
from .mma_forms import MmaForm
from .resolution import Multiplication, multiplication
from .signatures import Sort, signature, signatures
from .targets import NEWEST, spell_version, target_named
from .variant import MULTIPLYING
from .variant_rules import spell_pairs, spell_shapes
from .wgmma_forms import A_REGISTERS, WarpgroupOrderForm, WgmmaForm
from .wmma_forms import WmmaForm

Row = dict[str, str]

COLUMNS = (
    "instruction", "shape", "A x B", "D <- C", "moved", "layouts A.B", "modifiers", "kind", "scale factors",
    "metadata", "registers", "selectors", "PTX", "targets", "source",
)  # fmt: skip
"""Column titles of `rows`."""


def _numbers(counts: Iterable[tuple[str, int]]) -> str:
    return " ".join(f"{name}:{count}" for name, count in dict.fromkeys(counts))


def _available(form: Form) -> Row:
    if each := form.bit_operations:
        return {
            "PTX": ", ".join(f"{spell_version(since.ptx)} ({name})" for name, since in each),
            "targets": ", ".join(f"{since.targets} ({name})" for name, since in each),
        }
    return {"PTX": spell_version(form.available.ptx), "targets": form.available.targets}


def _product_row(form: ProductRow) -> Row:
    modifiers = [".satfinite"] if form.satfinite else []
    modifiers += [f".{rounding}" for rounding in form.roundings]
    modifiers += [f".{operation}.popc" for operation in form.operations if operation]
    return {
        "A x B": spell_pairs(form.multiplicands, " x "),
        "D <- C": spell_pairs(form.accumulators, " <- "),
        "layouts A.B": spell_pairs(form.layouts, "."),
        "modifiers": " ".join(modifiers),
    }


def _mma_row(form: MmaForm) -> Row:
    a, b = form.multiplicands[0]
    variant = next(form.variants())
    cells = _product_row(form) | {
        "shape": str(form.shape),
        "registers": _numbers(
            [
                ("A", form.registers("a", a)),
                ("B", form.registers("b", b)),
                *((f"C/D {c}", form.registers("c", c)) for _, c in form.accumulators),
            ]
        ),
        "selectors": "; ".join(
            str(operand) for operand in signature(form, variant) if operand.sort in (Sort.PAIR, Sort.CONSTANT)
        ),
        "kind": form.kind or "",
    }
    if form.scale_vec:
        default = ", default" if form.scale_vec_default else ""
        cells["scale factors"] = f"scale_vec::{form.scale_vec}{default}, {form.scale_type}"
    if form.sparse:
        cells["metadata"] = f"{form.chunk // 2}:{form.chunk}"
    return cells


def _wmma_row(form: WmmaForm) -> Row:
    roles = [(role, element_type) for role in "abcd" for element_type in form.role_types(role)]
    moved = _numbers((f"{role} {name}", form.registers(role, name)) for role, name in roles)
    replication = [
        f"{name} x{copies}" for name, copies in zip("AB", form.replication, strict=True) if copies > 1
    ]
    return _product_row(form) | {
        "shape": str(form.shape),
        "moved": f"elements held more than once: {', '.join(replication)}" if replication else "",
        "registers": moved,
    }


def _matrix_move_row(form: MatrixMoveForm) -> Row:
    counts = form.counts or (None,)
    trans = f".trans {form.transposition.value}"
    return {
        "shape": str(form.shape),
        "moved": ".".join(form.types),
        "modifiers": " ".join([*(f".{count}" for count in form.counts), trans]),
        "registers": _numbers((count or "a, d", form.registers(count)) for count in counts),
    }


def _wgmma_row(form: WgmmaForm) -> Row:
    n = form.shape.n
    counts = [f"D {d}:N/{n // form.registers(n, d)}" for d, _ in form.accumulators]
    others = signatures(form, next(form.variants()))[0][1:]
    cells = _product_row(form) | {
        "shape": spell_shapes(form.shapes),
        "registers": " ".join([f"A:{A_REGISTERS}", *counts]),
        "selectors": "; ".join(str(other) for other in others if other.name != "metadata"),
    }
    if form.sparse:
        cells["metadata"] = f"{form.chunk // 2}:{form.chunk}"
    return cells


def row(form: Form) -> Row:
    """Return a row of the catalogue as text."""
    name = form.families[0].value
    cells: Row
    match form:
        case MmaForm():
            name += "::ordered_metadata" * form.ordered_metadata
            cells = _mma_row(form)
        case WmmaForm():
            name, cells = "wmma", _wmma_row(form)
        case MatrixMoveForm():
            cells = _matrix_move_row(form)
        case WgmmaForm():
            cells = _wgmma_row(form)
        case WarpgroupOrderForm():
            cells = {}
    cells |= _available(form) | {"instruction": name, "source": form.source}
    return {title: cells.get(title, "") for title in COLUMNS}


def rows() -> list[Row]:
    """Return one row for each row of the catalogue."""
    return list(map(row, ALL_FORMS))


def rule_rows() -> list[Row]:
    """Return one row for each legality rule."""
    return of_all.rule_rows(RULES)


GENERATIONS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
"""A target of each matrix unit that ptxas compiles for."""


def machine_code_rows() -> list[Row]:
    """Return, for each row of the catalogue that multiplies, how each generation executes its types."""
    rows = {}
    for form in ALL_FORMS:
        for variant in form.variants():
            if variant.family in MULTIPLYING:
                cells = _machine_code_row(multiplication(variant))
                rows[tuple(cells.values())] = cells
    return list(rows.values())


def _machine_code_row(form: Multiplication) -> Row:
    """Return how one instruction is executed; what the target lacks is left empty."""
    d, a, b, c = form.d, form.a, form.b, form.c
    name = form.variant.family + "::ordered_metadata" * form.variant.ordered_metadata
    name += f".{form.variant.bit_operation}" if form.variant.bit_operation else ""
    shape = spell_shapes(form.form.shapes) if isinstance(form.form, WgmmaForm) else str(form.shape)
    row = {"instruction": name, "shape": shape, "A x B": f"{a} x {b}", "D <- C": f"{d} <- {c}"}
    for target in map(target_named, GENERATIONS):
        if form.form.availability(form.variant).allows(target, NEWEST):
            code = machine_code(form, target)
            row[target.name] = "scalar instructions" if code is None else code.described(form)
        else:
            row[target.name] = ""
    return row


def contradiction_rows() -> list[Row]:
    """Return one row for each contradicting claim."""
    return of_all.contradiction_rows(CONTRADICTIONS)
