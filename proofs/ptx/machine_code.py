"""What PTX products become on targets, how far each step is off, and the bounds that are told."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from ...spec.dot_add_bound import step_bound
from ...spec.dot_add_model import DotAddModel
from ...spec.errors import InputError
from ...spec.formats import FloatFormat, as_float, format_named
from ...spec.ptx.accumulation_bound import accumulation_bound, error_bounds
from ...spec.ptx.assembly import parse
from ...spec.ptx.choices import choices_named
from ...spec.ptx.machine_code import machine_code
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.targets import target_named
from ...spec.rounding import Rounding
from ...spec.rounding_bound import rounding_bound
from ..comparison import compared, refused
from ..obligation import Certificate
from ..stated.arithmetic import DIRECTIONS
from ..table_theorem import answered, table_theorem
from .documented import TABLES, stated_instructions
from .stated import combinations
from .stated import machine_code as stated
from .stated.machine_code import STEPS, Code, code, told

machine_codes = table_theorem(
    "ptx/stated/machine-code",
    "products become the matrix instructions that ptxas makes of them, with the models' error in each step",
    "∀ products of the tables up to layouts, ∀ targets that have them: factors, products and number of "
    "matrix instructions, accumulator, emulation and reordering are those read from machine code, and so "
    "is what is said of them; of listed "
    "products and models, the roundings that a product and C go through",
    "ptxas of CUDA 13.0 with nvdisasm; MMA-Sim, arXiv 2511.10909; Higham, section 2.2",
    lambda: {**{name: partial(_codes, name) for name in ("mma", "wmma")}, "steps": _steps},
)


def stated_codes(name: str) -> dict[tuple[str, str], tuple[Code | None, str | None]]:
    """Return what the products of a table become, by instruction and target, and what is said of it.

    Parameters
    ----------
    name : str
        The table, ``mma`` or ``wmma``.
    """
    found: dict[tuple[str, str], tuple[Code | None, str | None]] = {}
    seen = set()
    for text, (_, since) in stated_instructions(TABLES[name]()).items():
        opcode, modifiers, _, types = combinations.meaning(text)
        alike = opcode, types, modifiers - {"satfinite", "rn", "rz", "rm", "rp"}
        if opcode.startswith(("wmma.load", "wmma.store")) or alike in seen or "block_scale" in text:
            continue
        seen.add(alike)
        for target in since:
            number = int(target.removeprefix("sm_").rstrip("af"))
            found[text, target] = (
                code(opcode, modifiers, types, number),
                told(opcode, modifiers, types, number),
            )
    return found


def _codes(name: str) -> Certificate:
    expected = stated_codes(name)

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for text, target in expected:
            form = multiplication(parse(text).variant)
            said = machine_code(form, target_named(target))
            yield (text, target), (None, None) if said is None else (
                (said.factors.name, said.products, said.instructions, said.accumulator.name,
                 (*("halves",) * said.interleaved, *("last",) * said.addend_last,
                  *("ordered",) * said.reordered, *("integers",) * said.exact)),
                said.described(form),
            )  # fmt: skip

    return compared(expected, specified)


def _steps() -> Certificate:
    expected = {
        (text, model): (of_a_product, of_c, zeros) for text, model, of_a_product, of_c, zeros in STEPS
    }

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for text, model in expected:
            form = multiplication(parse(text).variant)
            try:
                bound = accumulation_bound(form, choices_named(model.split()))
            except InputError:
                bound = None
            yield (text, model), (None, None, False) if bound is None else (
                tuple(step.formula for step in bound.of_products),
                tuple(step.formula for step in bound.of_addend),
                not bound.ignores_zeros,
            )  # fmt: skip

    return compared(expected, specified)


bounds = table_theorem(
    "ptx/stated/error-bounds",
    "bounds of errors are the numbers of their formulas, and are printed as these",
    "of listed products and models, relative = Π (1 + w·n·2^-F + 2^-p) - 1 and absolute = (1 + relative)·"
    "Σ (n·2^-F + 2^-p)·2^e over the steps, which of listed dot-adds are these; of listed sums with r "
    "roundings, d of them between a term and the result, (1 + 2^-p)^d - 1 and r·(1 + 2^-p)^d·2^(e - p), "
    "or 0 where the terms are multiples of the least number; the texts with these; depths that there "
    "can't be are refused",
    "Higham, sections 2.2 and 4.2; MMA-Sim, arXiv 2511.10909",
    lambda: {"products": _products, "told": _told, "sums": _sums, "dot-adds": _dot_adds},
)


def _products() -> Certificate:

    def specified(text: str, model: str) -> tuple[Fraction, Fraction, str]:
        found = accumulation_bound(multiplication(parse(text).variant), choices_named([model]))
        assert found is not None
        return found.relative, found.absolute, str(found)

    return answered({key: tuple(stated.bound(steps)) for key, steps in stated.PRODUCTS.items()}, specified)


def _told() -> Certificate:

    def specified(text: str) -> list[str]:
        lines = list(error_bounds(parse(text).variant))
        return [line for line in lines if "≤" in line]

    return answered(
        {
            text: [f"{models}: {stated.bound(stated.PRODUCTS[key]).text}" for models, key in told]
            for text, told in stated.TOLD.items()
        },
        specified,
    )


def _float(name: str) -> FloatFormat:
    return as_float(format_named(name))


def _dot_adds() -> Certificate:

    def specified(
        bits: int, group: int, kept: int | None, factors: str, addend: str, products: int
    ) -> tuple[Fraction, Fraction, str]:
        model = DotAddModel(bits, Rounding.TOWARD_ZERO, kept, group)
        found = step_bound(model, products, list(map(_float, factors.split())), _float(addend))
        return found.unit, found.underflow, found.formula

    return answered(
        {key: (step.relative, step.absolute, step.text) for key, step in stated.DOT_ADDS.items()}, specified
    )


def _sums() -> Certificate:
    expected: dict[object, object] = {}
    for row in stated.ROUNDINGS:
        roundings, _, bits, normal, least, _, depth, quantum = row
        said = stated.rounded_sum(roundings, bits, normal, least, depth, quantum)
        expected[row] = (said.relative, said.absolute, said.relative * 3 + said.absolute, said.text)
        expected[row, "underflow"] = said.underflows
    expected |= dict.fromkeys(stated.NO_ROUNDINGS, True)

    def specified() -> Iterator[tuple[object, object]]:
        for row in stated.ROUNDINGS:
            roundings, name, *_, direction, depth, quantum = row
            rounding = Rounding(DIRECTIONS.index(direction))
            bound = rounding_bound(roundings, _float(name), rounding, depth=depth, quantum=quantum)
            yield row, (bound.relative, bound.absolute, bound.of(Fraction(3)), str(bound))
            yield (row, "underflow"), not any("underflow" in hypothesis for hypothesis in bound.hypotheses)
        for roundings, name, depth in stated.NO_ROUNDINGS:
            wrong = partial(rounding_bound, roundings, _float(name), depth=depth)
            yield (roundings, name, depth), refused(wrong)

    return compared(expected, specified)


THEOREMS = (
    machine_codes,
    bounds,
)
