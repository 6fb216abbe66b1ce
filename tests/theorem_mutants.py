"""Mutants of the specification: each breaks a theorem, which must then be refuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from theorem_checks import decided

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


def refutation_of(mutants: Sequence[Mutant]) -> Callable[..., None]:
    """Return the test that each mutant is refuted, for a module to name ``test_a_fault_is_refuted``."""

    @each(mutants)
    def refuted(mutate: Patch, theorem: Theorem, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        mutate(monkeypatch)
        assert decided(of(theorem, name)).status is Status.REFUTED

    return refuted


def entry_changed(owner: Any, table: str, key: object, value: object) -> Patch:
    """Return the fault that a table of a module has another entry."""

    def changed(patch: pytest.MonkeyPatch) -> None:
        assert key in getattr(owner, table)
        patch.setattr(owner, table, {**getattr(owner, table), key: value})

    return changed


def of(theorem: Theorem, name: str) -> Obligation:
    """Return a theorem's obligation by the name of its variant."""
    return next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")


def assert_refuted(verdict: Verdict) -> None:
    """Demand a counterexample that numpy confirms."""
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays
