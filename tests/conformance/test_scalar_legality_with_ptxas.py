"""ptxas gives the frozen answers on scalar instructions, and has forms from the version that rows say."""

from __future__ import annotations

import random

import pytest
from ptx_assembler import DECLARATIONS, Question, assembler
from ptx_scalar_sweep import FROZEN, TARGET, VERSION, frozen, instruction, sweep, table

from mmaproof.spec.ptx.legality import Module
from mmaproof.spec.ptx.scalar.catalogue import ROWS
from mmaproof.spec.ptx.scalar.instruction import read
from mmaproof.spec.ptx.scalar.legality import violations
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS

SAMPLE = 1200
"""Instructions of the sweep that an ordinary run asks about."""


def test_a_sample_of_the_frozen_answers() -> None:
    asked = random.Random("scalar").sample(list(sweep()), SAMPLE)
    taken = frozen()
    complaints = assembler().accepts([Question(each.text, TARGET, VERSION) for each in asked])
    wrong = [
        f"{each.text} {complaint}"
        for each, complaint in zip(asked, complaints, strict=True)
        if (each.key in taken) != (complaint is None)
    ]
    assert wrong == []


@pytest.mark.sweep
def test_the_frozen_answers() -> None:
    assert table() == FROZEN.read_text(encoding="utf-8")


def test_versions_and_targets() -> None:
    # ptxas 13.0 compiles sm_70 and sm_72 for later ones, and calls sm_101 sm_110.
    targets = [each for each in TARGETS.values() if each.number in (75, 80, 86, 89, 90, 100, 120)]
    modules = [(target, VERSION) for target in targets if not target.suffix]
    modules += [(TARGETS["sm_75"], version) for version in VERSIONS if (6, 3) <= version <= VERSION]
    modules += [(TARGETS["sm_90"], version) for version in VERSIONS if (7, 8) <= version <= VERSION]
    asked = []
    for row in ROWS:
        types = tuple(slot[0] for slot in row.type_slots)
        flags = tuple(slot[0] for slot in row.flag_slots)
        text = instruction(row, types, flags)
        asked += [Question(text, target, version) for target, version in modules]
    complaints = assembler().accepts(asked)
    wrong = []
    for question, complaint in zip(asked, complaints, strict=True):
        scalar = read(question.text, DECLARATIONS)
        assert scalar is not None
        found = violations(scalar.written, Module(question.target, question.ptx))
        if bool(found) != (complaint is not None):
            wrong.append(f"{question}: {complaint}, not {[str(each) for each in found]}")
    assert wrong == []
