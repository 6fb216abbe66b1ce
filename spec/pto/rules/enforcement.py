"""Rules on PTO instructions: who checks a condition, for which profiles and operations.

A condition is static in one header, an assertion of debug builds in the next, and a sentence on a page
elsewhere; so a rule has a kind for each profile and operation.
Source: pto-isa headers and pages at 3186c381; ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from ...legality import Rule, Violation
from ..catalogue import OPERATIONS, Operation, OperationKind
from ..resolution import Resolved
from ..targets import A2A3, A5, CPU, Profile

Subject = TypeVar("Subject")

Messages = Iterator[str]
Check = Callable[[Resolved, Profile], Messages]
"""What a rule on a statement asks of it."""


class RuleKind(StrEnum):
    """Who finds out that a rule is not met."""

    STATIC = "static"
    RUN_TIME = "run-time"
    DEBUG_ONLY = "debug-only"
    SILENT = "silent"
    ASSEMBLER_ONLY = "assembler-only"
    PAGE_ONLY = "page-only"
    UNSPECIFIED = "unspecified"

    @property
    def meaning(self) -> str:
        """Who checks, and what happens."""
        return _MEANINGS[self]

    @property
    def forbids(self) -> bool:
        """Whether what does not meet the rule is illegal.

        The headers decide (headers before assembler before pages): what only ptoas or only pages demand,
        and the headers take with a defined result, is remarked upon; so is what they take without one that is
        documented.
        """
        return self not in (RuleKind.ASSEMBLER_ONLY, RuleKind.PAGE_ONLY, RuleKind.UNSPECIFIED)


_MEANINGS = {
    RuleKind.STATIC: "it does not compile",
    RuleKind.RUN_TIME: "asserted at run time",
    RuleKind.DEBUG_ONLY: "asserted in debug builds only; a release build computes something else",
    RuleKind.SILENT: "nothing checks it, and the result is wrong",
    RuleKind.ASSEMBLER_ONLY: "ptoas demands it, the headers do not",
    RuleKind.PAGE_ONLY: "pages demand it, no code checks it",
    RuleKind.UNSPECIFIED: "headers take it, no document says what comes out",
}


def named(*, kind: OperationKind | None = None, **features: bool) -> frozenset[str]:
    """Return the names of the operations of a kind that have (or have not) properties of `Operation`."""
    return frozenset(
        name
        for name, operation in OPERATIONS.items()
        if (operation.kind is kind if kind else operation.kind is not OperationKind.MOVE)
        and all(getattr(operation, feature) is wanted for feature, wanted in features.items())
    )


EVERYTHING = frozenset(OPERATIONS)
PRODUCTS = named()
MATMUL = named(kind=OperationKind.MATMUL)
GEMV = named(kind=OperationKind.GEMV)
MICROSCALED = named(microscaled=True)
PLAIN = named(microscaled=False)
BIASED = named(biased=True)
ACCUMULATING = named(accumulates=True)

ALL_PROFILES = (A2A3, A5, CPU)
CUBE = tuple(profile for profile in ALL_PROFILES if profile.cube)
"""Profiles with a matrix unit."""


@dataclass(frozen=True)
class Enforcement:
    """What a rule is to some profiles and operations.

    Attributes
    ----------
    kind : RuleKind
        Who checks it.
    profiles : tuple of Profile
        For whom.
    operations : frozenset of str
        For which operations.
    """

    kind: RuleKind
    profiles: tuple[Profile, ...] = ALL_PROFILES
    operations: frozenset[str] = EVERYTHING


@dataclass(frozen=True, kw_only=True)
class PtoRule(Rule[Subject, Profile]):
    """A rule with its kinds.

    Attributes
    ----------
    enforcements : tuple of Enforcement
        The first that fits a profile and an operation says what the rule is to them; where none fits, it
        does not hold.
    """

    enforcements: tuple[Enforcement, ...]

    def kind(self, profile: Profile, operation: Operation) -> RuleKind | None:
        """Return what the rule is to a profile and an operation; None where it does not hold."""
        for enforcement in self.enforcements:
            if profile in enforcement.profiles and operation.name in enforcement.operations:
                return enforcement.kind
        return None


def findings(
    rules: Iterable[PtoRule[Subject]], subject: Subject, profile: Profile, operation: Operation
) -> Iterator[tuple[RuleKind, Violation]]:
    """Yield every violation of the rules that hold for a profile and an operation, with its kind."""
    for rule in rules:
        kind = rule.kind(profile, operation)
        if kind is not None:
            for message in rule.check(subject, profile):
                yield kind, Violation(rule, f"{message} ({kind}: {kind.meaning})")


def on_tiles(*roles: str) -> Callable[[Callable[..., Messages]], Check]:
    """Make a check of a profile and the tiles of some roles one of statements where all of them are known."""

    def of_tiles(check: Callable[..., Messages]) -> Check:
        def of_statement(resolved: Resolved, profile: Profile) -> Messages:
            if resolved.has(*roles):
                yield from check(profile, *(resolved.tiles[role] for role in roles))

        return of_statement

    return of_tiles


ALWAYS = (Enforcement(RuleKind.STATIC),)
"""The enforcements of what every header asserts."""


def of_moves(
    *operations: str, kind: RuleKind = RuleKind.STATIC, profiles: tuple[Profile, ...] = CUBE
) -> Enforcement:
    """Return what a rule is to moves, by default what the headers of the NPU assert."""
    return Enforcement(kind, profiles, frozenset(operations))
