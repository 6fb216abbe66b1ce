"""The catalogue as a Markdown table.

``python -m mmaproof.reports.theorem_table > docs/theorem-list.md`` writes it.
"""

from __future__ import annotations

from ..proofs.catalogue import theorems
from ..proofs.obligation import Status
from ..proofs.recorded_methods import recorded_methods

_HEADING = """# The theorems

Written by `python -m mmaproof.reports.theorem_table`.
What the columns mean is in [theorems.md](theorems.md).
"""


def theorem_table() -> str:
    """Return every theorem with its mathematics and how many obligations expect which verdict."""
    rows = [
        ("theorem", "in words", "statement", "decided by", "proved", "pinned"),
        ("---", "---", "---", "---", "--:", "--:"),
    ]
    for theorem in theorems():
        obligations = list(theorem.obligations())
        pinned = sum(obligation.expect is Status.REFUTED for obligation in obligations)
        methods = "; ".join(recorded_methods(obligation.id for obligation in obligations))
        rows.append(
            (
                f"`{theorem.id}`",
                theorem.title,
                theorem.statement,
                methods,
                str(len(obligations) - pinned),
                str(pinned),
            )
        )
    return _HEADING + "\n" + "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("[", "\\[")


if __name__ == "__main__":
    print(theorem_table(), end="")
