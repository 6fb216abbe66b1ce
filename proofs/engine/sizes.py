"""Which terms, tiles and rows the proofs for every size count, whatever the sizes: each once, and no other.

A proof for every size speaks of one iteration, one thread or one block in place of all, so that it supposes
how numbers are split: ``position = s · i + l`` with 0 ≤ l < s. What it supposes of such digits is decided
here for all integers, sizes among them; that what holds of each number holds of all is induction itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...refinement.rules.rule import Rule, Theory
from ..obligation import Case, Equality, Status, Theorem
from .rules import given, goal_of, statement_of, unguarded

_DIGITS = "0 <= l and l < s and 0 <= m and m < s and s * i + l == s * j + m"

_THREADS = "ptx.any_size.thread_sums:ThreadSums"
_LOOPS = "ptx.any_size.size_induction:Induction"
_BLOCKS = "ptx.any_size.block_launch:BlockLaunch"


@dataclass(frozen=True)
class Split:
    """What proofs suppose of a way to number positions.

    Attributes
    ----------
    rule : Rule
        The equation of integers, and what numbers it holds for.
    meaning : str
        What that says of terms, rows or blocks.
    """

    rule: Rule
    meaning: str


def _split(
    name: str, left: str, right: str, place: str, meaning: str, guard: str = "", fails: str = ""
) -> Split:
    values = dict(each.split("=") for each in fails.split())
    return Split(Rule(name, Theory.INTEGERS, left, right, place, guard, fails=values), meaning)


SPLITS = (
    _split(
        "digits/place", "i", "j", _THREADS,
        "no position is in two places i and j: no row in two tiles, no term in two turns of threads; with "
        "i = n·f + c, no block in two groups f or columns c",
        _DIGITS, "s=2 l=0 m=2 i=1 j=0",
    ),
    _split(
        "digits/rest", "l", "m", _THREADS,
        "nor has it two rests l and m: no row of a tile is another one, no term is two threads', no block in "
        "two rows of a group",
        _DIGITS, "s=2 l=0 m=2 i=1 j=0",
    ),
    _split(
        "threads/terms", "where(s * i + l < s * (t - 1) + l + 1 + r, x, 0)", "where(i < t, x, 0)", _THREADS,
        "of K = s·(t - 1) + l + 1 + r terms, thread l of s takes t, for every rest r that is less than s",
        "0 <= r and r < s", "s=1 i=1 l=0 t=1 r=1 x=1",
    ),
    _split(
        "threads/falling", "where(0 <= n - 1 - (s * i + l), x, 0)", "where(s * i + l < n, x, 0)", _THREADS,
        "and as many from the last term down",
    ),
    _split(
        "threads/vectors", "where(v * i + e < v * q + r, x, 0)", "where(i < q or i == q and e < r, x, 0)",
        _THREADS, "of K = v·q + r terms in vectors of v, q vectors are whole, and r terms are left",
        "0 <= e and e < v and 0 <= r and r < v", "v=1 i=1 e=0 q=0 r=2 x=1",
    ),
    _split(
        "iterations/taken", "where(p < q * (u + 1), x, 0)",
        "where(p < q * u, x, 0) + where(q * u <= p and p < q * (u + 1), x, 0)", _LOOPS,
        "iteration u adds just the terms from q·u to q·(u + 1) - 1 to those of the u before it",
        "0 <= q", "p=-1 q=-1 u=0 x=1",
    ),
    _split(
        "tiles/last", "where(w * b + t < w * (n - 1) + d, x, 0)",
        "where(b < n - 1 or b == n - 1 and t < d, x, 0)", _BLOCKS,
        "of n tiles of w rows that end d rows into the last one, all others are whole",
        "0 <= t and t < w and 0 < d and d <= w", "w=1 b=1 t=0 n=1 d=2 x=1",
    ),
    _split(
        "tiles/cover", "where(w * b + t < h and n <= b, x, 0)", "0", _BLOCKS,
        "no row of h ≤ w·n is beyond n tiles", "0 <= t and h <= w * n and 0 < w", "w=1 b=1 t=0 n=1 h=2 x=1",
    ),
    _split(
        "groups/count", "where(w * (n * f + c) + l < w * n * h, x, 0)", "where(f < h, x, 0)", _BLOCKS,
        "the first w·n·h blocks are those of h groups", "0 <= l and l < w and 0 <= c and c < n",
        "w=1 n=1 f=0 c=1 l=0 h=1 x=1",
    ),
)  # fmt: skip
"""What proofs for every size suppose of positions and of the numbers of blocks."""


def _cases(group: str) -> Iterator[Case]:
    for split in SPLITS:
        rule = split.rule
        of, _, name = rule.name.partition("/")
        if of != group:
            continue
        said = f"{statement_of(rule)}\n{split.meaning}; supposed by {rule.place}"
        yield Case(name, partial(goal_of, rule), equality=Equality.VALUE, statement=said)
        if rule.guard:
            bare = unguarded(rule)
            said = f"{statement_of(bare)}\nfalse at {given(rule.fails)}"
            refuted = partial(goal_of, bare)
            yield Case(f"{name}/unguarded", refuted, Status.REFUTED, Equality.VALUE, statement=said)


_GROUPS = {
    "digits": "a position is in one place, and has one rest",
    "threads": "threads that go over a sum take all of its terms",
    "iterations": "an iteration adds its terms",
    "tiles": "tiles cover the rows",
    "groups": "groups of blocks are numbered one after another",
}

THEOREMS = tuple(
    Theorem(
        f"engine/sizes/{group}",
        f"proofs for every size: {title}",
        "for all integers, sizes among them: what the meta-rules suppose of positions",
        "docs/every-size.md",
        partial(_cases, group),
    )
    for group, title in _GROUPS.items()
)
