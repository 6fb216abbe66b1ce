"""ptxas takes asynchronous instructions where rules say they are legal, and others where `leniency` says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from ptx_assembler import Question, assembler
from ptx_asynchronous import NAMES, forms, legal_texts, near_modifiers, near_operands, target_of

from mmaproof.spec.ptx.asynchronous.instruction import read
from mmaproof.spec.ptx.asynchronous.legality import violations
from mmaproof.spec.ptx.asynchronous.leniency import objections
from mmaproof.spec.ptx.asynchronous.rows import Form
from mmaproof.spec.ptx.legality import Module
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS, Target, Version

NEWEST: Version = (9, 0)
HOPPER = TARGETS["sm_90a"]
# ptxas 13.0 compiles sm_70 and sm_72 for later ones, and calls sm_101 sm_110.
MODULES: tuple[tuple[Target, Version], ...] = (
    *((target, NEWEST) for target in TARGETS.values() if target.number >= 75 and target.number != 101),
    *((TARGETS["sm_80"], version) for version in VERSIONS if (7, 0) <= version <= NEWEST),
    *((HOPPER, version) for version in VERSIONS if (8, 0) <= version <= NEWEST),
    *((TARGETS["sm_90"], version) for version in VERSIONS if (7, 8) <= version <= NEWEST),
)


def differences(asked: Sequence[Question]) -> list[str]:
    complaints = assembler().accepts(asked)
    wrong = []
    for question, complaint in zip(asked, complaints, strict=True):
        instruction = read(question.text, NAMES)
        if instruction is None:  # without a word of its head it is another instruction
            continue
        found = violations(instruction.written, Module(question.target, question.ptx))
        if bool(found) == (complaint is not None):
            continue
        if complaint is None and objections(instruction.written, found):
            continue
        wrong.append(f"{question}: {complaint}, not {[str(each) for each in found]}")
    return wrong


def sampled(count: int, seed: str) -> list[Form]:
    return random.Random(seed).sample(forms(), count)


def near(chosen: Sequence[Form]) -> Iterator[Question]:
    for form in chosen:
        for text in (*legal_texts(form), *near_modifiers(form), *near_operands(form)):
            yield Question(text, target_of(form), NEWEST)


def in_modules(chosen: Sequence[Form]) -> Iterator[Question]:
    for form in chosen:
        for text in legal_texts(form):
            yield from (Question(text, target, version) for target, version in MODULES)


def test_every_form_is_taken() -> None:
    asked = [Question(text, target_of(form), NEWEST) for form in forms() for text in legal_texts(form)]
    assert differences(asked) == []


def test_instructions_near_a_form() -> None:
    questions = list(near(sampled(8, "near")))
    assert len(questions) > 500
    assert differences(questions) == []


def test_targets_and_versions() -> None:
    assert differences(list(in_modules(sampled(25, "modules")))) == []


@pytest.mark.sweep
@pytest.mark.parametrize("head", sorted({form.row.head for form in forms()}))
def test_all_instructions_near_the_forms_of_a_head(head: str) -> None:
    assert differences(list(near([form for form in forms() if form.row.head == head]))) == []


@pytest.mark.sweep
@pytest.mark.parametrize("head", sorted({form.row.head for form in forms()}))
def test_all_targets_and_versions(head: str) -> None:
    assert differences(list(in_modules([form for form in forms() if form.row.head == head]))) == []
