"""Freeze the verdicts of the corpora, and compare: ``python -m tools.verdicts run|compare|shares``."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import table
from .cases import every_case, selected
from .sweep import SECONDS, swept


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1 where verdicts differ."""
    parser = argparse.ArgumentParser(prog="python -m tools.verdicts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="verify the kernels that a folder has no results of yet")
    run.add_argument("folder", type=Path, help="of the two tables")
    run.add_argument("words", nargs="*", help="only kernels whose 'corpus: name' contains one of them")
    run.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    run.add_argument("--seconds", type=int, default=SECONDS, help=f"of the processor, for each ({SECONDS})")
    compare = commands.add_parser("compare", help="say what differs; exit 1 if verdicts do")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    compare.add_argument("words", nargs="*", help="only kernels whose 'corpus: name' contains one of them")
    shares = commands.add_parser("shares", help="of the checker and of the runs in the processor's time")
    shares.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.command == "run":
        swept(selected(every_case(), chosen.words), chosen.folder, chosen.jobs, chosen.seconds)
        return 0
    if chosen.command == "shares":
        print(*table.shares(table.of_folder(chosen.folder)[1]), sep="\n")
        return 0
    old, new = map(table.of_folder, (chosen.old, chosen.new))
    verdicts = list(table.differing_verdicts(*(_named(each[0], chosen.words) for each in (old, new))))
    costs = list(table.differing_costs(*(_named(each[1], chosen.words) for each in (old, new))))
    print(*verdicts, *costs, f"{len(verdicts)} differences of verdicts, {len(costs)} of costs", sep="\n")
    return 1 if verdicts else 0


def _named(rows: list[table.Row], words: list[str]) -> list[table.Row]:
    return [row for row in rows if not words or any(word in ": ".join(row[:2]) for word in words)]


if __name__ == "__main__":
    raise SystemExit(main())
