"""A catalogue on `toy_specification`, for tests of mutation."""

from __future__ import annotations

from functools import cache

import toy_specification

from mmaproof.proofs.obligation import (
    Certificate,
    Deduction,
    Inputs,
    Method,
    Obligation,
    Property,
    Variable,
    holds,
)
from mmaproof.spec.algebra import Algebra
from mmaproof.spec.formats import U8

CATALOGUE = "toy_mutation_catalogue:obligations"


def _nothing(alg: Algebra, v: Inputs):
    yield holds(alg, alg.same(v["x"], v["x"]))


def _enumerated(wrong) -> Certificate:
    first = next((x for x in range(256) if wrong(x)), None)
    return Certificate(
        lambda: None if first is None else f"wrong for {first}", 256, Property((Variable("x", U8),), _nothing)
    )


@cache
def obligations() -> dict[str, Obligation]:
    """Obligations by id; the specification's functions are called when they are decided."""
    goals = {
        "sum/adds": lambda: _enumerated(lambda x: toy_specification.total(x, 3) != (x + 3) % 256),
        "sum/seen": lambda: _enumerated(lambda x: toy_specification.half_seen(x) != x),
    }
    made = (
        Obligation(f"toy/arithmetic/{name}", "of bytes", goal, method=Method.CERTIFICATE)
        for name, goal in goals.items()
    )
    return {obligation.id: obligation for obligation in made}


@cache
def with_a_premise_elsewhere() -> dict[str, Obligation]:
    """Those, and what follows from one of them and one of another instruction set."""
    premise = Obligation(
        "elsewhere/facts/any/one", "of bytes", lambda: _enumerated(lambda _: False), method=Method.CERTIFICATE
    )
    premises = premise.id, "toy/arithmetic/sum/adds"
    follows = Obligation(
        "toy/conclusions/sum/follows", "of bytes", lambda: Deduction(premises), method=Method.DEDUCTION
    )
    return obligations() | {each.id: each for each in (premise, follows)}
