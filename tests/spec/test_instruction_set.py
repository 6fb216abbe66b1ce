"""Which instruction set a text is of, and what an instruction that was read says of itself."""

from __future__ import annotations

from importlib import import_module

import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.instruction_set import NAMES, instruction_set, of_instruction, read, recognised

EVERY = [(name, row["mnemonic"]) for name in NAMES for row in instruction_set(name).instructions()]


def test_no_two_instruction_sets_begin_an_instruction_with_the_same_word() -> None:
    words = [import_module(f"mmaproof.spec.{name}.assembly").WORDS for name in NAMES]
    assert sum(map(len, words)) == len(set().union(*words))


def test_every_instruction_is_recognised_as_one_of_its_own_set() -> None:
    for name, mnemonic in EVERY:
        found = recognised(mnemonic)
        assert found is not None and found.name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@!%p1 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ptx"),
        ("// a comment\n  /* and one */ ldmatrix.sync", "ptx"),
        ("@ /* p */ p // or not\n mma.sync", "ptx"),
        ("wgmma.fence.sync.aligned", "ptx"),
        ("# a comment\n%d, %e = pto.tload", "pto"),
        ('%0 = "pto.tmatmul"(%a, %b)', "pto"),
        ("  XVF32GERPP a0,vs34,vs35", "power"),
    ],
)
def test_what_stands_in_front_of_the_name_does_not_matter(text: str, name: str) -> None:
    found = recognised(text)
    assert found is not None and found.name == name


@pytest.mark.parametrize("name", NAMES)
def test_no_two_sides_of_a_contradiction_say_the_same(name: str) -> None:
    rows = instruction_set(name).tables["contradictions"]()
    said = [(row["contradiction"], row["says"]) for row in rows]
    assert len(set(said)) == len(said)
    assert {row["who"] for row in rows}.isdisjoint(row["says"] for row in rows)


@pytest.mark.parametrize(
    ("misspelt", "name"), [("xvf32gerp", "power"), ("ldmatix.sync", "ptx"), ("%d = tmatmull %a", "pto")]
)
def test_a_misspelt_instruction_is_of_the_set_that_has_one_like_it(misspelt: str, name: str) -> None:
    assert recognised(misspelt) is None
    assert of_instruction(misspelt).name == name


def test_an_unknown_instruction_is_of_the_target_or_is_told_what_each_set_has() -> None:
    for name in NAMES:
        isa = instruction_set(name)
        assert of_instruction("frobnicate", isa.default_target) is isa
    with pytest.raises(
        InputError, match=r"power has \S*ger\S* and .* ptx has mma and .* pto has tmatmul"
    ) as told:
        of_instruction("frobnicate")
    assert len(str(told.value)) < 250


@pytest.mark.parametrize("name", NAMES)
def test_the_row_of_an_instruction_is_one_of_the_table(name: str) -> None:
    rows = instruction_set(name).tables["instructions"]()
    for isa, mnemonic in EVERY[::29]:
        if isa == name:
            assert read(mnemonic).row() in rows


def test_names_are_declared_for_instruction_sets_that_have_some() -> None:
    assert read("ldmatrix", declarations="%r1:b32")
    for text in ("xvf32ger", "tmatmul"):
        with pytest.raises(InputError, match="of PTX"):
            read(text, declarations="%r1:b32")
