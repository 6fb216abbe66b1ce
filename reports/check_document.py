"""The JSON document of ``check``."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from ..proofs.obligation import Equality, Expected, Status
from ..proofs.replay import SavedCounterexample
from ..proofs.verdict import PATTERN
from ..spec.json_fields import Amount, Keyword, Natural, ObligationId
from .report import Conclusion


class SecondVerdict(TypedDict):
    """What came out when an obligation was decided again.

    Attributes
    ----------
    status : str
        Whether it agrees.
    solver : str
        What decided.
    seconds : float
        Time it took, with building what was asked.
    message : str
        Why, where it is not confirmed.
    """

    status: Literal["confirmed", "contradicted", "error", "unknown", "not possible"]
    solver: NotRequired[str]
    seconds: NotRequired[Amount]
    message: str


class CheckedObligation(TypedDict):
    """An obligation with its verdict.

    Attributes
    ----------
    id : str
        isa/family/theorem/variant.
    status : Status
        What came out.
    expect : Status
        What the catalogue expects.
    equality : Equality
        In which sense the sides are equal.
    solver : str
        The programs that decided.
    seconds : float
        Time it took to find out now, from the cache or not.
    cached : bool
        Whether the verdict came from the cache.
    method : str
        What decided, by `mmaproof explain`'s names; empty where nothing has.
    witness : str
        What decided the second witness of an enumeration; empty without one.
    choices : str
        What is chosen where the instruction set leaves it open.
    message : str
        Why, when it is unknown or an error.
    counterexample : SavedCounterexample
        Of a refutation.
    recheck : SecondVerdict
        With `--recheck`: what came out when it was decided again.
    """

    id: ObligationId
    status: Status
    expect: Expected
    equality: Equality
    solver: str
    seconds: Amount
    cached: bool
    method: Annotated[str, Keyword("pattern", f"^({PATTERN})?$")]
    witness: str
    choices: str
    message: str
    counterexample: NotRequired[SavedCounterexample]
    recheck: NotRequired[SecondVerdict]


class Unpinned(TypedDict):
    """An obligation that is not pinned as the catalogue has it.

    Attributes
    ----------
    id : str
        isa/family/theorem/variant.
    kind : str
        What became of it.
    pinned : Status or None
        What the file expects.
    expect : Status or None
        What the catalogue expects.
    """

    id: ObligationId
    kind: Literal["vanished", "appeared", "changed"]
    pinned: Expected | None
    expect: Expected | None


class RecheckTotals(TypedDict):
    """What came out the second time, in numbers.

    Attributes
    ----------
    confirmed, contradicted, error, unknown, not_possible : int
        By what came out.
    seconds : float
        Added up.
    """

    confirmed: Natural
    contradicted: Natural
    error: Natural
    unknown: Natural
    not_possible: Natural
    seconds: Amount


class CheckTotals(TypedDict):
    """A run in numbers.

    Attributes
    ----------
    obligations : int
        All of them.
    proved, refuted, unknown, error : int
        By what came out.
    expected, unexpected : int
        Whether it is what the catalogue expects.
    unpinned : int
        Where the catalogue is not the pinned set.
    cached : int
        Verdicts from the cache.
    seconds : float
        Added up.
    elapsed : float
        On the wall clock.
    conclusion : Conclusion
        What it means as a whole.
    recheck : RecheckTotals
        With `--recheck`: what came out when it was decided again.
    """

    obligations: Natural
    proved: Natural
    refuted: Natural
    unknown: Natural
    error: Natural
    expected: Natural
    unexpected: Natural
    unpinned: Natural
    cached: Natural
    seconds: Amount
    elapsed: Amount
    conclusion: Conclusion
    recheck: NotRequired[RecheckTotals]


class CheckDocument(TypedDict):
    """What `check --json` writes.

    Attributes
    ----------
    schema : int
        Version of the document.
    version : str
        Of mmaproof.
    obligations : list of CheckedObligation
        Those that were checked.
    unpinned : list of Unpinned
        Where the catalogue is not the pinned set; any entry fails the run.
    summary : CheckTotals
        The run in numbers.
    """

    schema: Literal[1]
    version: str
    obligations: list[CheckedObligation]
    unpinned: list[Unpinned]
    summary: CheckTotals
