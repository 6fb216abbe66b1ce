"""Contracts of Power functions: no launch, alignment as malloc has it; and the table of instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import DGEMM, compiled, messages, source, verified

from mmaproof.refinement.contract.arguments import Array
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.machine.languages import opcode_rows
from mmaproof.refinement.power.image.instruction_forms import forms
from mmaproof.spec.errors import InputError

TEXT = DGEMM.replace("{N}", "2")


@pytest.mark.parametrize("key", ["grid", "block", "dynamic_shared"])
def test_a_function_has_no_launch(key: str) -> None:
    with pytest.raises(InputError, match=f"which have no {key}"):
        parse_contract(f"{TEXT}\n[launch]\n{key} = 1\n")


def test_memory_is_aligned_as_malloc_does_unless_said() -> None:
    instance = next(iter(parse_contract(TEXT).instances()))
    assert {argument.alignment for argument in instance.arguments if isinstance(argument, Array)} == {16}
    said = parse_contract(TEXT.replace('name = "X"', 'name = "X"\nalignment = 64'))
    assert next(iter(said.instances())).arrays["X"].alignment == 64


def test_arrays_may_lie_in_one_buffer(tmp_path: Path) -> None:
    text = TEXT.replace('name = "X"', 'name = "X"\nwithin = "both"\nat = 0').replace(
        'name = "Y"', 'name = "Y"\nwithin = "both"\nat = "64 * N"'
    )
    text += '\n[[buffer]]\nname = "both"\nsize = "128 * N"\n'
    kernel = compiled(source("dgemm"), tmp_path)
    assert verified(kernel, text).result.verdict == "verified"
    wrong = source("dgemm").replace("step < n", "step <= n")
    found = verified(compiled(wrong, tmp_path), text)
    assert found.result.verdict == "refuted" and "both+0x100" in messages(found)


def test_a_structure_is_refused(tmp_path: Path) -> None:
    text = TEXT + '\n[[param]]\nname = "s"\nsize = 8\nfields = []\n'
    with pytest.raises(InputError, match="s is a structure"):
        verified(compiled(source("dgemm"), tmp_path), text)


def test_every_form_has_a_row() -> None:
    rows = {row["opcode"]: row for row in opcode_rows("power")}
    assert rows.keys() == forms().keys()
    assert rows["lxvp"]["status"] == "modelled" and rows["bpermd"]["status"] == "unsupported"
    assert rows["dcbt"]["status"].startswith("ignored")
    assert all(row["source"].count("Power ISA") == 1 for row in rows.values())
