"""Mutants of the specification: each breaks a theorem, which must then be refuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mmaproof.proofs.obligation import Obligation, Status, Theorem
from mmaproof.proofs.verdict import Verdict

Patch = Callable[[pytest.MonkeyPatch], None]
"""Puts a mutant in the place of a function of the specification, for every algebra at once."""

Mutant = tuple[Patch, Theorem, str]
"""A mutant, and the theorem and the variant of it that it breaks."""


def each(mutants: Sequence[Mutant]) -> pytest.MarkDecorator:
    """Run a test once for each mutant, as ``mutate``, ``theorem`` and ``name``."""
    return pytest.mark.parametrize(
        ("mutate", "theorem", "name"), mutants, ids=lambda part: getattr(part, "__name__", None)
    )


def of(theorem: Theorem, name: str) -> Obligation:
    """Return a theorem's obligation by the name of its variant."""
    return next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")


def assert_refuted(verdict: Verdict) -> None:
    """Demand a counterexample that numpy confirms."""
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays
