"""Every kernel with a contract: those of the corpora, the examples, and the faults that tests plant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Case:
    """A kernel and its contract.

    Attributes
    ----------
    corpus, name : str
        Where it is from, and which it is; together unique.
    place : callable
        Writes or compiles both in a folder; returns the kernel's file and the contract's.
    """

    corpus: str
    name: str
    place: Callable[[Path], tuple[Path, Path]]

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the case in a table."""
        return self.corpus, self.name


def every_case() -> Iterator[Case]:
    """Yield all cases, right kernels first."""
    for folder in (REPOSITORY, REPOSITORY / "tests"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    import contract_corpora
    from faulty_kernels import faulty_kernels
    from pipeline_corpora import pipelines

    for known in contract_corpora.kernels():
        if known.verdict == "verified":
            yield Case(known.corpus, known.name, _written(known.place, known.contract))
    for faulty in (*faulty_kernels(), *pipelines()):
        yield Case(faulty.corpus, faulty.name, faulty.placed)


def selected(cases: Iterator[Case], words: Sequence[str]) -> list[Case]:
    """Return the cases whose "corpus: name" contains one of the words; all of them without words."""
    return [case for case in cases if not words or any(word in ": ".join(case.key) for word in words)]


def _written(place: Callable[[Path], Path], contract: str) -> Callable[[Path], tuple[Path, Path]]:
    def placed(folder: Path) -> tuple[Path, Path]:
        path = folder / "contract.toml"
        path.write_text(contract, encoding="utf-8")
        return place(folder), path

    return placed
