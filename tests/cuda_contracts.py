"""The CUDA kernels of the corpus and their contracts, and kernels with a fault planted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmaproof.refinement.verification import Verification, verify

CORPUS = Path(__file__).parents[1] / "examples" / "verify"
"""The kernels, with their sources and contracts: examples for users, too."""

KERNELS: Mapping[str, Mapping[str, Any]] = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))


def contract_of(kernel: str) -> Path:
    """Return the contract of a file of the corpus."""
    return CORPUS / f"{KERNELS[kernel]['entry']}.toml"


@dataclass(frozen=True)
class Edit:
    """A replacement in a text.

    Attributes
    ----------
    kernel : str
        The file of the corpus.
    old, new : str
        What is replaced, and by what.
    occurrence : int
        Which of the places where it stands, from 1.
    """

    kernel: str
    old: str
    new: str
    occurrence: int = 1

    def applied(self) -> str:
        """Return the kernel's text with the replacement; the text must have that many occurrences."""
        pieces = (CORPUS / self.kernel).read_text(encoding="utf-8").split(self.old)
        assert len(pieces) > self.occurrence, f"{self.kernel} has no {self.old!r} number {self.occurrence}"
        before, after = pieces[: self.occurrence], pieces[self.occurrence :]
        return self.old.join(before) + self.new + self.old.join(after)


def verify_edited(edit: Edit, folder: Path) -> Verification:
    """Verify a kernel with a replacement against the contract of the kernel as it was."""
    path = folder / edit.kernel
    path.write_text(edit.applied(), encoding="utf-8")
    return verify(path, contract_of(edit.kernel))
