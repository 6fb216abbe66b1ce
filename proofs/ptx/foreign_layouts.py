"""Layouts in the notations of CuTe and Triton are the specified ones exactly if their formulas say so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...spec.foreign_layouts.against import Notation, compare_layout, written_layout
from ...spec.foreign_layouts.comparison import Comparison
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.operand_tables import operands
from ...spec.ptx.resolution import multiplication
from ..comparison import compared, refused
from ..families.foreign_layouts import by_strides, by_vectors, extents_of, specified_elements
from ..families.notations import images_of, notations, printed, spelled_in_cute, with_changed_stride
from ..obligation import Certificate
from ..stated import foreign_layouts as formulas
from ..table_theorem import answered, table_theorem
from .stated import foreign_layouts as stated
from .stated.shared_loads import conflicts, delivered

SOURCE = "CUTLASS, cute/atom/mma_traits and cute/swizzle.hpp; Triton, LinearLayout.h; PTX ISA 9.1 9.7.14.5"


# -- what CUTLASS and Triton state
published = table_theorem(
    "ptx/foreign/published",
    "the layouts that CUTLASS and Triton state are the specified ones, and are found equal",
    "∀ instructions and operands of MMA_Traits and of Triton's tiles, ∀ (lane, element): the coordinates by "
    "the notation's formula (strides times the parts of a coordinate; the xor of the vectors of its bits) "
    "are those that the layout of the instruction set names; however it is spelled, it is found equal",
    SOURCE,
    lambda: {"cute": _traits, "others": _others, "linear": _tiles},
)


def _traits() -> Certificate:
    expected: dict[tuple[str, ...], object] = {}
    for instruction, layouts in stated.TRAITS.items():
        for operand, text in layouts.items():
            expected[instruction, operand] = specified_elements(instruction, operand)
            for spelled in spelled_in_cute(text):
                expected[instruction, operand, spelled] = ("equal", ())

    def specified() -> Iterator[tuple[tuple[str, ...], object]]:
        for instruction, layouts in stated.TRAITS.items():
            for operand, text in layouts.items():
                extents = extents_of(instruction, operand)
                yield (instruction, operand), by_strides(text, extents, operand == "b")
                for spelled in spelled_in_cute(text):
                    comparison = compare_layout(instruction, operand, spelled)
                    yield (instruction, operand, spelled), (comparison.verdict.value, comparison.notes)

    return compared(expected, specified)


def _others() -> Certificate:
    """Return the claim on operands that CUTLASS counts in another way."""
    notes = ((stated.SCALED, ()), (stated.SPARSE, ("equal, counting the uncompressed K",)))

    def said(found: Comparison) -> object:
        return found.verdict.value, found.notes

    return answered(
        {
            (instruction, operand, text): ("equal", note)
            for table, note in notes
            for instruction, layouts in table.items()
            for operand, text in layouts.items()
        },
        lambda *key: said(compare_layout(*key)),
    )


def _tiles() -> Certificate:
    expected: dict[tuple[str, ...], object] = {}
    for instruction, operand, bases in stated.LINEAR:
        expected[instruction, operand] = specified_elements(instruction, operand)
        expected |= {(instruction, operand, text): "equal" for text in printed(bases)}

    def specified() -> Iterator[tuple[tuple[str, ...], object]]:
        for instruction, operand, bases in stated.LINEAR:
            yield (instruction, operand), by_vectors(bases, 2, "lane", "register")
            for text in printed(bases):
                yield (instruction, operand, text), compare_layout(instruction, operand, text).verdict.value

    return compared(expected, specified)


# -- what is written
written = table_theorem(
    "ptx/foreign/written",
    "layouts written in the notations of CuTe and Triton map each holder to its element",
    "∀ operands of mma (one variant of every form), ∀ (lane, element): the text that is written has, by the "
    "formula of its notation, the coordinates that the layout of the instruction set names",
    SOURCE,
    lambda: {notation.value: partial(_written, notation) for notation in Notation},
)


def _written(notation: Notation) -> Certificate:
    named = [
        (str(variant), operand)
        for form in ALL_FORMS
        if isinstance(form, MmaForm)
        for variant in [next(iter(form.variants()))]
        for operand in operands(multiplication(variant))
    ]
    chosen = {tuple(sorted(specified_elements(*each).items())): each for each in named}.values()

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for instruction, operand in chosen:
            text, extents = written_layout(instruction, operand, notation), extents_of(instruction, operand)
            if notation is Notation.CUTE:
                yield (instruction, operand), by_strides(text, extents, operand in ("b", "scale_b"))
            else:
                yield (
                    (instruction, operand),
                    by_vectors(formulas.linear(text), len(extents), "lane", "register"),
                )

    return compared({each: specified_elements(*each) for each in chosen}, specified)


# -- what is told of others
verdicts = table_theorem(
    "ptx/foreign/verdicts",
    "a layout is equal exactly if its formula says so; what it is otherwise is told, and what would mend it",
    "∀ layouts of MMA_Traits and changes of one stride: outside, twice or otherwise held by the notation's "
    "formula ⇒ that verdict, and the stride that mends it is the one changed; ∀ listed layouts: the verdict "
    "and what is said of it; what is listed as no layout is refused",
    SOURCE,
    lambda: {"strides": _strides, "said": _said, "refused": _refused},
)


def _strides() -> Certificate:
    expected: dict[tuple[str, ...], object] = {}
    for instruction, layouts in stated.TRAITS.items():
        for operand, text in layouts.items():
            extent = int(np.prod(extents_of(instruction, operand)))
            for changed, said in with_changed_stride(text):
                verdict = formulas.verdict(images_of(changed), extent)
                expected[instruction, operand, changed] = verdict, said, text

    def specified() -> Iterator[tuple[tuple[str, ...], object]]:
        for instruction, operand, changed in expected:
            said = compare_layout(instruction, operand, changed)
            yield (instruction, operand, changed), (said.verdict.value, said.repair, said.expected)

    return compared(expected, specified)


def _said() -> Certificate:

    def verdict(instruction: str, operand: str, text: str, part: str) -> str:
        found = compare_layout(instruction, operand, text)
        lines = "\n".join(found.lines())
        return found.verdict.value if part in lines else lines

    return answered(
        {
            (instruction, operand, text, part): verdict
            for instruction, operand, text, verdict, part in stated.SAID
        },
        verdict,
    )


def _refused() -> Certificate:
    instruction = stated.mma("m16n8k16", stated.F16)
    return compared(
        dict.fromkeys(stated.REFUSED, True),
        lambda: {
            (operand, text): refused(partial(compare_layout, instruction, operand, text))
            for operand, text in stated.REFUSED
        },
    )


# -- loads from shared memory
loads = table_theorem(
    "ptx/foreign/loads",
    "a load from a tile in shared memory delivers a fragment exactly if its rows are where the lanes point",
    "∀ listed tiles, swizzles, loads and addresses, of elements of 1 to 32 bits: simulated row by row and "
    "bit by bit, the registers "
    "hold the operand's elements where MMA_Traits has them ⇔ the load is found to deliver it (without given "
    "addresses: some addresses make it so); as many rows of a matrix lie in the same banks as is noted",
    SOURCE,
    lambda: {"delivered": _loads},
)


def _loads() -> Certificate:
    expected: dict[tuple[str, str, str], object] = {}
    for load in stated.LOADS:
        arrives = delivered(load)
        expected[load.instruction, load.operand, str(load)] = arrives, conflicts(load) if arrives else None

    def said(found: Comparison) -> object:
        note = found.notes[-1] if found.equal else ""
        ways = 1 if note == "no bank conflicts" else int(note.partition("-way")[0] or 0)
        return found.equal, ways if found.equal else None

    return answered(expected, lambda *at: said(compare_layout(*at)))


THEOREMS = (notations("ptx"), published, written, verdicts, loads)
