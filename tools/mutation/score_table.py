"""The recorded scores on one-line faults as Markdown tables.

``python -m tools.mutation.score_table > docs/mutation-score.md`` writes them.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from .recorded_scores import EQUIVALENT, TESTED_SINCE, UNNOTICED, recorded
from .scope import Role

_HEADING = """# Faults in the specification that the catalogue and the tests detect

Written by `python -m tools.mutation.score_table` from `tools/mutation/recorded_scores.json`, which
`python -m tools.mutation.recorded_scores FILE…` makes from the output of the commands below with
`--json FILE`. [theorems.md](theorems.md#faults-in-the-specification) says which faults there are,
and what each is tried on.

The catalogue detects a fault when a verdict is not the expected one (refuted) or an obligation can't be
decided (error). A crash is neither: the specification can't be imported, or obligations can't be built, and
no other obligation refutes. *Of those that can be built* excludes crashes. Tests detect a fault when one
fails that passes without it; `python -m tools.mutation.tried_later FILE DIR…` tries survivors on tests that
were written later.

Faults that are shown to change nothing are not drawn (see theorems.md). Where a reader found another one to
be equivalent, the list says so, and why. These are about half of the survivors: a word that is masked
twice, a shortcut, an arbitrary number. The goals are 95 % of the others by the catalogue alone, and all of
them together with the tests.

Read the figures with care, because samples are small. The seeds had not been tried when the theorems and
tests were written; later statements detect some of the survivors. Faults in modules of presentation are in
the lists, but only in figures that say so.
"""

_COLUMNS = ("refuted", "error", "crashed", "timeout", "survived")


def mutation_table() -> str:
    """Return the scores, by what modules are about, and the faults that are not noticed."""
    campaigns = recorded()
    parts = [_HEADING, "\n", _summary(campaigns)]
    for name, campaign in campaigns.items():
        rows = [
            _row(role.value, campaign["roles"][role.value])
            for role in Role
            if role.value in campaign["roles"]
        ]
        rows.append(_row("all but presentation: its own", campaign["own"]))
        rows.append(_row("all but presentation: generic", campaign["generic"]))
        rows.append(_row("**all but presentation**", campaign["whole"]))
        table = _table(["modules on", "faults", *_COLUMNS, "score", "of those that can be built"], rows)
        said = f"{table}{_unnoticed(campaign)}{_earlier(campaign)}"
        parts.append(f"\n## {name}\n\n`{campaign['command']}`\n\n{said}")
    return "".join(parts)


@dataclass(frozen=True)
class _Figures:
    """How many faults of a sample there are of each kind."""

    drawn: int
    by_catalogue: int
    equivalent: int
    by_tests: int
    since: int

    @classmethod
    def of(cls, campaign: dict[str, Any], *, presentation: bool) -> _Figures:
        counts = [campaign["whole"]]
        if presentation:
            counts += filter(None, [campaign["roles"].get(Role.PRESENTATION.value)])
        listed = [each for each in campaign["unnoticed"] if presentation or each["role"] != Role.PRESENTATION]
        return cls(
            sum(count["mutants"] for count in counts),
            sum(count["refuted"] + count["error"] for count in counts),
            sum(each["reason"].startswith(EQUIVALENT) for each in listed),
            sum(bool(each["test"]) for each in listed),
            sum(bool(each["test"]) and each["reason"].startswith(TESTED_SINCE) for each in listed),
        )

    def __add__(self, other: _Figures) -> _Figures:
        mine, others = astuple(self), astuple(other)
        return _Figures(*(one + another for one, another in zip(mine, others, strict=True)))

    def row(self, name: str, *, with_tests: bool) -> list[str]:
        """Return a row of a table."""
        different = self.drawn - self.equivalent
        together = self.by_catalogue + self.by_tests
        return [
            name,
            str(self.drawn),
            _share(self.by_catalogue, self.drawn),
            str(self.equivalent),
            _share(self.by_catalogue, different),
            _share(together - self.since, different) if with_tests else "not tried",
            _share(together, different) if with_tests else "",
            str(different - together) if with_tests else "",
        ]


def _summary(campaigns: dict[str, dict[str, Any]]) -> str:
    """Return the figures of all samples in one table."""
    tested = {name: campaign["with_tests"] for name, campaign in campaigns.items()}
    rows = []
    for presentation in (False, True):
        found = {
            name: _Figures.of(campaign, presentation=presentation) for name, campaign in campaigns.items()
        }
        everything = sum(found.values(), _Figures(0, 0, 0, 0, 0))
        if not presentation:
            rows += [each.row(name, with_tests=tested[name]) for name, each in found.items()]
        name = "**all, with presentation**" if presentation else "**all**"
        rows.append(everything.row(name, with_tests=all(tested.values())))
    head = ["sample", "faults", "by the catalogue", "equivalent", "by the catalogue, of the others"]
    return _table(
        [*head, "together with the tests there were", "with those written since", "not noticed"], rows
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _row(name: str, counts: dict[str, Any]) -> list[str]:
    noticed = counts["refuted"] + counts["error"]
    built = counts["mutants"] - counts["crashed"]
    shares = (_share(noticed, whole) for whole in (counts["mutants"], built))
    return [name, str(counts["mutants"]), *(str(counts[column]) for column in _COLUMNS), *shares]


def _unnoticed(campaign: dict[str, Any]) -> str:
    """List what no obligation notices, with the test that does, or the reason."""
    listed = ""
    for outcome in UNNOTICED:
        for each in campaign["unnoticed"]:
            if each["outcome"] == outcome:
                change = f"`{_short(each['old'])}` → `{_short(each['new'])}`"
                reason = _short(each["reason"] or "no obligation that depends on it sees a difference", 160)
                tests = f"; noticed by `{each['test']}`" if each["test"] else ""
                listed += f"- {outcome}: {each['file']}:{each['line']}: {change}: {reason}{tests}\n"
    return f"\n{listed}" if listed else ""


def _earlier(campaign: dict[str, Any]) -> str:
    """Tell the figures of samples before."""
    said = ""
    for each in campaign.get("earlier", ()):
        whole = each["whole"]
        noticed, others = whole["refuted"] + whole["error"], whole["mutants"] - each["equivalent"]
        share = (
            f"{_share(noticed, whole['mutants'])}, of those that are not equivalent {_share(noticed, others)}"
        )
        said += f"- `{each['command']}`: {share}\n"
    return f"\nBefore, by the catalogue alone:\n\n{said}" if said else ""


def _short(text: str, length: int = 70) -> str:
    text = " ".join(text.replace("`", "'").split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


if __name__ == "__main__":
    print(mutation_table(), end="")
