"""What PTX products become on targets, in which order, and how far each step is off."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...spec.errors import InputError
from ...spec.ptx.accumulation_bound import accumulation_bound
from ...spec.ptx.assembly import parse
from ...spec.ptx.choices import choices_named
from ...spec.ptx.machine_code import machine_code
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.targets import target_named
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import table_theorem
from .documented import TABLES, stated_instructions
from .stated import neighbours
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
        opcode, modifiers, _, types = neighbours.meaning(text)
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

    def specified() -> Mapping[tuple[str, str], object]:
        found: dict[tuple[str, str], object] = {}
        for text, target in expected:
            form = multiplication(parse(text).variant)
            said = machine_code(form, target_named(target))
            found[text, target] = (None, None) if said is None else (
                (said.factors.name, said.products, said.instructions, said.accumulator.name,
                 (*("halves",) * said.interleaved, *("last",) * said.addend_last,
                  *("ordered",) * said.reordered, *("integers",) * said.exact)),
                said.described(form),
            )  # fmt: skip
        return found

    return compared(expected, specified)


def _steps() -> Certificate:
    expected = {
        (text, model): (of_a_product, of_c, zeros) for text, model, of_a_product, of_c, zeros in STEPS
    }

    def specified() -> Mapping[tuple[str, str], object]:
        found: dict[tuple[str, str], object] = {}
        for text, model in expected:
            form = multiplication(parse(text).variant)
            try:
                bound = accumulation_bound(form, choices_named(model.split()))
            except InputError:
                bound = None
            found[text, model] = (None, None, False) if bound is None else (
                tuple(step.formula for step in bound.of_products),
                tuple(step.formula for step in bound.of_addend),
                not bound.ignores_zeros,
            )  # fmt: skip
        return found

    return compared(expected, specified)


THEOREMS = (machine_codes,)
