"""PTX legality for many modules: rules that do not look at the module are evaluated once an instruction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, cast

from ...spec.instruction_set import Judgement
from ...spec.legality import Violation
from ...spec.ptx.assembly import parse
from ...spec.ptx.legality import RULES, Module, Rule
from ...spec.ptx.operands import Instruction
from ...spec.ptx.targets import NEWEST, target_named, version_named

parsed = lru_cache(maxsize=1 << 16)(parse)
"""`parse`, remembered."""


class _LookedAtError(Exception):
    """A rule looked at the module."""


class _Unseen:
    """Stands for a module, and says when it is looked at."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise _LookedAtError


_UNSEEN = cast(Module, _Unseen())


@dataclass(frozen=True)
class _Partial:
    """An instruction judged as far as that does not depend on the module.

    Attributes
    ----------
    instruction : Instruction
        The instruction.
    settled : tuple of (int, Violation)
        What is wrong in every module, with the rules' places among `RULES`.
    pending : tuple of (int, Rule)
        The rules that look at the module.
    """

    instruction: Instruction
    settled: tuple[tuple[int, Violation], ...]
    pending: tuple[tuple[int, Rule], ...]


@lru_cache(maxsize=1 << 16)
def _partial(text: str) -> _Partial:
    instruction = parsed(text)
    settled: list[tuple[int, Violation]] = []
    pending: list[tuple[int, Rule]] = []
    for number, rule in enumerate(RULES):
        try:
            settled += [(number, Violation(rule, message)) for message in rule.check(instruction, _UNSEEN)]
        except _LookedAtError:
            pending.append((number, rule))
    return _Partial(instruction, tuple(settled), tuple(pending))


@lru_cache(maxsize=4096)
def _module(target: str, version: str | None) -> Module:
    return Module(target_named(target), NEWEST if version is None else version_named(version))


def judge(text: str, target: str, version: str | None) -> Judgement:
    """Judge an instruction as `InstructionSet.judge` does.

    Raises
    ------
    InputError
        If the text is no instruction, or the target or version is unknown.
    """
    module, partial = _module(target, version), _partial(text)
    found: list[tuple[int, Any]] = [
        (number, Violation(rule, message))
        for number, rule in partial.pending
        for message in rule.check(partial.instruction, module)
    ]
    found = sorted([*partial.settled, *found], key=lambda numbered: numbered[0])
    return Judgement(target, tuple(violation for _, violation in found))
