"""Where ptxas and the rules differ for no known reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from ptx_assembler import Question, assembler

from mmaproof.spec.ptx.catalogue import Form
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import Module, violations
from mmaproof.spec.ptx.leniency import LENIENCIES
from mmaproof.spec.ptx.operands import Sink, Vector
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS, target_named
from mmaproof.spec.ptx.variant import Variant

NEWEST_MODULE = Module(target_named("sm_120a"), (9, 0))


def has_sink(instruction: Instruction) -> bool:
    vectors = (operand for operand in instruction.operands or () if isinstance(operand, Vector))
    return any(isinstance(element, Sink) for vector in vectors for element in vector.elements)


def explained(instruction: Instruction, module: Module, rules: set[str]) -> bool:
    """Say whether ptxas may take an instruction although it violates rules."""
    release = assembler().release
    found: set[str] = set()
    for hole in LENIENCIES:
        if (hole.closed is None or release < hole.closed) and hole.explains(instruction, module):
            found |= hole.rules
    return bool(rules) and rules <= found


def disagreements(judged: Iterable[tuple[Instruction, Module]], *, generate: bool = False) -> list[str]:
    """Return where ptxas and the rules differ for no known reason."""
    oracle = assembler()
    cases = [(instruction, module) for instruction, module in judged if module.ptx <= oracle.ptx]
    assert cases
    questions = [Question(f"{instruction}", module.target, module.ptx) for instruction, module in cases]
    found = []
    answers = oracle.accepts(questions, generate=generate)
    for (instruction, module), question, complaint in zip(cases, questions, answers, strict=True):
        violated = violations(instruction, module.target, module.ptx)
        if (complaint is None) == (not violated):
            continue
        if complaint is not None and not violated and has_sink(instruction):
            continue  # known.REFUSED_SINK
        if complaint is None and explained(instruction, module, {v.rule.id for v in violated}):
            continue
        found.append(f"{question}: ptxas says {complaint!r}, the rules {[str(v) for v in violated]}")
    return found


def around(form: Form, variant: Variant) -> Iterator[Module]:
    """Yield modules of every target, at the versions of the form and the target, and those before."""
    needed = form.availability(variant).ptx
    for target in TARGETS.values():
        places = {VERSIONS.index(max(version, VERSIONS[1])) for version in (needed, target.since)}
        versions = {VERSIONS[place - step] for place in places for step in (0, 1)}
        yield from (Module(target, version) for version in sorted({*versions, NEWEST_MODULE.ptx}))


def sampled(variants_of: list[Variant], count: int, rng: np.random.Generator) -> list[Variant]:
    chosen = rng.permutation(len(variants_of))[:count]
    return [variants_of[int(place)] for place in chosen]
