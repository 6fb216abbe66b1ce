"""The CUDA kernels of the corpus and their contracts, and kernels with a fault planted."""

from __future__ import annotations

import json
import re
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


TILES: Mapping[str, tuple[str, int]] = {
    "dequantised_s4_f16": ("M = 16\nN = 32", 32),
    "mma_f16": ("M = 64\nN = 64", 32),
    "mma_f64": ("M = 16\nN = 16", 8),
    "mma_mxf4": ("M = 16\nN = 32", 128),
    "mma_mxf8f6f4": ("M = 16\nN = 32", 128),
    "mma_s4": ("M = 16\nN = 32", 64),
    "mma_sparse_f16": ("M = 16\nN = 32", 224),
    "nf4_f32": ("M = 1\nN = 32", 32),
    "shuffled_gemv_f32": ("M = 4", 128),
    "simt_f32": ("M = 16\nN = 16", 16),
    "wmma_f16": ("M = 32\nN = 32", 16),
    "wmma_f16_scaled": ("M = 16\nN = 16", 32),
    "wmma_s4": ("M = 16\nN = 16", 32),
    "wmma_s8": ("M = 16\nN = 64", 16),
}
"""Of contracts with one K: the other sizes, of one block, and what K is a multiple of.

That of the sparse kernel is what its rows hold whole repetitions of given values for.
"""

_SIZES = re.compile(r"(?m)^\[\[?sizes\]?\]\n(?:[A-Z]\w* = .*\n)+\n?")


def for_every_k(entry: str, bound: str = "") -> str:
    """Return the contract of a kernel at one block of the other sizes, and K of a domain."""
    sizes, step = TILES[entry]
    before, *after = _SIZES.split((CORPUS / f"{entry}.toml").read_text(encoding="utf-8"))
    return before + f'[sizes]\n{sizes}\nK = "any multiple of {step}{bound}"\n\n' + "".join(after)


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
