"""Which published model of accumulation a recorded vector is compared with."""

from __future__ import annotations

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.architectures import ARCHITECTURES, Architecture
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.targets import Target, target_named

from .cases import Case


def is_modelled(case: Case, target: Target) -> bool:
    """Say whether a matrix unit with a published model executes a product (else: f16 ``mma.m8n8k4``)."""
    try:
        case.multiplication.require_executable_on(_architecture(target))
    except InputError:
        return False
    return True


def choices_on(case: Case, target: Target) -> Choices:
    """Return the readings for a product on a target.

    Without a model its vectors are exact under every accumulation, so that any does.
    """
    return Choices(accumulation=_architecture(target).name) if is_modelled(case, target) else Choices()


def _architecture(target: Target) -> Architecture:
    """Return the newest architecture that is not newer than a target."""
    known = {target_named(architecture.target).number: architecture for architecture in ARCHITECTURES}
    return known[max(number for number in known if number <= target.number)]
