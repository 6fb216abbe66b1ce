"""Which moves of PTO are legal: a list of statements and profiles, from the headers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.resources import files

from ...spec.pto.assembly import parse
from ...spec.pto.legality import judge
from ...spec.pto.resolution import resolve_known
from ...spec.pto.targets import PROFILES
from ..comparison import compared
from ..obligation import Case, Certificate, Method, theorem

PROFILE_NAMES = ("A2A3", "A5", "CPU")


@theorem(
    "pto/legal/moves",
    "moves are legal and illegal as the headers have it",
    "∀ listed statements and profiles: no rule is broken; or the listed one, and where it says so it alone",
    "pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE of each profile",
)
def moves() -> Iterator[Case]:
    """Yield one certificate for each profile."""
    for profile in PROFILE_NAMES:
        yield Case(profile, partial(_moves, profile), method=Method.CERTIFICATE)


def _moves(profile: str) -> Certificate:
    expected: dict[str, str] = {}
    for line in files(f"{__package__}.stated").joinpath("moves.txt").read_text(encoding="utf-8").splitlines():
        of, verdict, text = (part.strip() for part in line.split(" | ", 2))
        if of == profile:
            expected[text] = verdict

    def judged(text: str, stated: str) -> str:
        rules = {each.rule.id for each in judge(resolve_known(parse(text), PROFILES[profile])).violations}
        if stated.startswith("only "):
            agrees = rules == {stated.removeprefix("only ")}
        else:
            agrees = {"legal": not rules, "some": bool(rules)}.get(stated, stated in rules)
        return stated if agrees else f"breaks {', '.join(sorted(rules)) or 'nothing'}"

    return compared(expected, lambda: {text: judged(text, stated) for text, stated in expected.items()})


THEOREMS = (moves,)
