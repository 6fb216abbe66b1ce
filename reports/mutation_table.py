"""The recorded scores on one-line faults as Markdown tables.

``python -m mmaproof.reports.mutation_table > docs/mutation-score.md`` writes them.
"""

from __future__ import annotations

from typing import Any

from ..proofs.mutation.recorded_scores import UNNOTICED, recorded
from ..proofs.mutation.scope import Role

_HEADING = """# Which faults in the specification the catalogue notices

Written by `python -m mmaproof.reports.mutation_table` from `proofs/mutation/recorded_scores.json`, which
`python -m mmaproof.proofs.mutation.recorded_scores FILE…` makes of what the commands below write with
`--json FILE`. [theorems.md](theorems.md#faults-in-the-specification) says which faults there are, and what
each is tried on.

A fault is noticed when a verdict is not the expected one (refuted) or an obligation can't be decided (error).
The goal is 95 %, by the catalogue alone. A crash is neither: the specification can't be imported, or
obligations not be built, and no other obligation refutes. *Of those that can be built* leaves them out.
Faults that are shown to change nothing are left out, as theorems.md says. Where a reader found another one to
be equivalent, the list says so, and why; below each table the score is given without these too.

Read the figures with care: samples are small. All were made by the
commands below, one job on a machine that others used. The seeds are ones that nobody had seen
when the theorems were written; later statements answer some of what survived.

How much a sample says, others show, equivalent ones included: drawn shortly before these, of 100 faults
each, power 96.8 % (seed 20261124) and, of 200, 92.9 % (20261123); mfma 92.7 % (20261125); ptx 93.9 %
(20261126); pto 95.6 % (20261127) and 91.3 % (20261131). Of the 42 that survived there, a reader found 19 to
be equivalent; the others are stated since, but for one that a test notices. Then ptx 85.6 % (20261130; 90.2 %
without equivalent ones) and pto 90.4 % (20261132; 92.4 %): of these 23 survivors 7 are equivalent, 12 are
stated since, and tests notice the rest. Of 60 faults each, and earlier:
power 91.1 % (198491317), 86.2 % (236887699), 96.7 % (295075147), 87.3 % (715827883), 92.9 % (373587883);
ptx 93.1 % (334214459), 93.3 % (413158511); mfma 84.2 % (256203161), 87.7 % (314606869), 91.4 % (393342743);
pto 91.2 % (275604541), 94.8 % (353868013), 89.7 % (433024223), 94.5 % (452930477), 94.5 % (982451653). Of
800 of power (seed 1), with which gaps were looked for, 91.4 %.

What follows was drawn last; what is not stated yet, the lists say. What nothing distinguishes is about half
of what survives: a word that is masked twice, how much is computed at a time, a short cut, any function
where any will do, a number that is only compared further off. It keeps the score below 100 %, and on a
small sample at times below 95 %.
"""

EQUIVALENT = "equivalent"
"""How a reason begins that says why nothing can notice a fault."""

_COLUMNS = ("refuted", "error", "crashed", "timeout", "survived")


def mutation_table() -> str:
    """Return the scores, by what modules are about, and the faults that are not noticed."""
    campaigns = recorded()
    parts = [_HEADING]
    for name, campaign in campaigns.items():
        rows = [
            _row(role.value, campaign["roles"][role.value])
            for role in Role
            if role.value in campaign["roles"]
        ]
        rows.append(_row("all but presentation: its own", campaign["own"]))
        rows.append(_row("all but presentation: generic", campaign["generic"]))
        head = ["modules on", "faults", *_COLUMNS, "score", "of those that can be built"]
        lines = [
            head,
            ["---", *["--:"] * (len(head) - 1)],
            *rows,
            _row("**all but presentation**", campaign["whole"]),
        ]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        said = f"{table}{_without_equivalent(campaign)}{_unnoticed(campaign)}"
        parts.append(f"\n## {name}\n\n`{campaign['command']}`\n\n{said}")
    return "".join(parts)


def _row(name: str, counts: dict[str, Any]) -> list[str]:
    noticed = counts["refuted"] + counts["error"]
    built = counts["mutants"] - counts["crashed"]
    shares = (f"{100 * noticed / whole:.1f} %" if whole else "" for whole in (counts["mutants"], built))
    return [name, str(counts["mutants"]), *(str(counts[column]) for column in _COLUMNS), *shares]


def _without_equivalent(campaign: dict[str, Any]) -> str:
    """Say the score without the faults of which a reader said that nothing can notice them."""
    equivalent = sum(each["reason"].startswith(EQUIVALENT) for each in campaign["unnoticed"])
    whole = campaign["whole"]
    others = whole["mutants"] - equivalent
    noticed = whole["refuted"] + whole["error"]
    said = ""
    if equivalent:
        said = f"\nWithout {equivalent} that are equivalent: {100 * noticed / others:.1f} % of {others}.\n"
    if campaign["with_tests"]:
        of_tests = sum(bool(each["test"]) for each in campaign["unnoticed"])
        both = 100 * (noticed + of_tests) / others
        said += (
            f"\nTogether with the tests, which notice {of_tests} of the others: {both:.1f} % of {others}.\n"
        )
    return said


def _unnoticed(campaign: dict[str, Any]) -> str:
    """List what is not noticed, with the reason."""
    listed = ""
    for outcome in UNNOTICED:
        for each in campaign["unnoticed"]:
            if each["outcome"] == outcome:
                change = f"`{_short(each['old'])}` → `{_short(each['new'])}`"
                reason = _short(each["reason"] or "no obligation that depends on it sees a difference", 160)
                tests = f"; noticed by `{each['test']}`" if each["test"] else ""
                listed += f"- {outcome}: {each['file']}:{each['line']}: {change}: {reason}{tests}\n"
    return f"\n{listed}" if listed else ""


def _short(text: str, length: int = 70) -> str:
    text = " ".join(text.replace("`", "'").split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


if __name__ == "__main__":
    print(mutation_table(), end="")
