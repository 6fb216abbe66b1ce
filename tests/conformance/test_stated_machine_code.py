"""What the catalogue states of machine code is what nvdisasm prints, without the specification's table."""

from __future__ import annotations

import re

import pytest
from machine_code import Code as Disassembled
from machine_code import assemble

from mmaproof.proofs.ptx.machine_code import stated_codes
from mmaproof.proofs.ptx.stated.machine_code import Code
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.targets import TARGETS

NOT_COMPILED_FOR = {"sm_70", "sm_72"}
RENAMED = {"sm_101": "sm_110", "sm_101a": "sm_110a", "sm_101f": "sm_110f"}
"""What ptxas of CUDA 13.0 calls targets."""

FLOATS = {"BF16", "TF32", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1"}
INTEGERS = {"S8", "U8", "S4", "U4"}

SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)\.")


def operation(text: str, code: Disassembled) -> tuple[list[str], list[str]]:
    """Return what an instruction and the matrix instructions for it do to integers."""
    asked = [each for each in text.split(".") if each.upper() in INTEGERS | {"XOR", "AND"}]
    done = {
        tuple(modifier for modifier in m.modifiers if modifier in INTEGERS | {"XOR", "AND"})
        for m in code.matrix
    }
    return asked, [modifier.lower() for modifiers in done for modifier in modifiers]


def disassembled(text: str, code: Disassembled) -> Code | None:
    """Return what an instruction became.

    What is emulated with other integers has the factors and products of PTX: only that it is.
    """
    m, n, k = map(int, SHAPE.search(text).groups())  # type: ignore[union-attr]
    if not code.matrix:
        return None
    first = code.matrix[0]
    chained, rest = divmod(len(code.matrix), -(-m * n // (8 * first.rows)))
    assert rest == 0
    if first.unit in ("IMMA", "BMMA"):
        asked, done = operation(text, code)
        a = asked[0] if asked[0] not in ("xor", "and") else "b1"
        sparse = 2 if text.startswith("mma.sp") else 1
        if asked != done or chained > 1:
            return Code(a, k // sparse, 1, "s32", ("integers",))
        notes = ("ordered",) if code.uses("SHFL", "SEL") else ()
        return Code(a, first.products, chained, "s32", notes)
    if first.unit == "DMMA":
        return Code("f64", first.products, chained, "f64")
    modifiers = [modifier for modifier in first.modifiers if modifier != "SP"]
    if modifiers[-1].startswith("STEP"):  # steps of some of the elements, not of the products
        return Code("f16", first.products, 1, modifiers[0].lower())
    halves = [sorted(each.halves) for each in code.matrix if each.halves]
    # What a function gives back (it orders metadata on sm_110) is not followed; these were read by eye.
    unfollowed = first.from_zero and code.uses("CALL")
    notes = {
        "halves": halves == [["low"], ["high"]] or unfollowed,
        "last": first.from_zero and (code.uses("FADD") or "HADD2" in code.others),
        "ordered": not first.from_zero and code.uses("SHFL", "SEL"),
    }
    factors = next((modifier for modifier in modifiers if modifier in FLOATS), "F16").lower()
    said = tuple(name for name, holds in notes.items() if holds)
    return Code(factors, first.products, chained, modifiers[0].lower(), said)


def differing(target: str) -> list[str]:
    """Return what is stated of a target, and is not so."""
    stated = {
        text: code
        for name in ("mma", "wmma")
        for (text, on), (code, _) in stated_codes(name).items()
        if on == target
    }
    assert stated
    found = assemble([parse(text).variant for text in stated], TARGETS[RENAMED.get(target, target)])
    read = {text: disassembled(text, code) for text, code in zip(stated, found, strict=True)}
    return [f"{text}: {stated[text]}, not {read[text]}" for text in stated if stated[text] != read[text]]


@pytest.mark.sweep
@pytest.mark.parametrize("target", sorted(set(TARGETS) - NOT_COMPILED_FOR))
def test_what_is_stated_of_every_target_is_in_its_machine_code(target: str) -> None:
    assert differing(target) == []


def test_other_machine_code_is_another_statement() -> None:
    text = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
    (native,), (widened,) = (assemble([parse(text).variant], TARGETS[on]) for on in ("sm_89", "sm_90a"))
    assert disassembled(text, native) == Code("e4m3", 32, 1, "f32")
    assert disassembled(text, widened) == Code("f16", 16, 2, "f32", ("halves", "last"))
