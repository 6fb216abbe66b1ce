"""Modules of PyTorch in the manner of benchmarks for written kernels, right and wrong, to verify.

Each folder of ``tests/kernels/torch`` has a problem, a right solution, and edits of it: faults, and others
that change nothing. ``python tests/torch_corpus.py DIR`` writes them as folders of whole solutions, for
``python -m benchmarks kernels DIR``.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "kernels" / "torch"


@dataclass(frozen=True)
class Pair:
    """A problem and a solution.

    Attributes
    ----------
    problem, right : str
        Their texts.
    faults, harmless : mapping of str to (str, str)
        Edits by name, each with a text of the solution and what stands in its place.
    """

    problem: str
    right: str
    faults: dict[str, tuple[str, str]]
    harmless: dict[str, tuple[str, str]]

    def solution(self, edit: tuple[str, str] | None = None) -> str:
        """Return the right solution, or with an edit."""
        if edit is None:
            return self.right
        assert self.right.count(edit[0]) == 1, edit
        return self.right.replace(*edit)


def read(folder: Path) -> Pair:
    """Return what a folder has."""
    edits = tomllib.loads((folder / "edits.toml").read_text(encoding="utf-8"))
    faults, harmless = (
        {name: (each["text"], each["becomes"]) for name, each in edits.get(kind, {}).items()}
        for kind in ("fault", "harmless")
    )
    problem, right = ((folder / name).read_text(encoding="utf-8") for name in ("problem.py", "right.py"))
    return Pair(problem, right, faults, harmless)


PAIRS = {path.parent.name: read(path.parent) for path in sorted(FOLDER.glob("*/problem.py"))}
"""All of them by name."""


def write(folder: Path) -> None:
    """Write every pair as a folder: the problem, the right solution, harmless edits and faults."""
    for name, pair in PAIRS.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "problem.py").write_text(pair.problem, encoding="utf-8")
        (place / "right.py").write_text(pair.right, encoding="utf-8")
        for kind, edits in (("fault", pair.faults), ("right", pair.harmless)):
            for edit, texts in edits.items():
                (place / f"{kind}_{edit}.py").write_text(pair.solution(texts), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
