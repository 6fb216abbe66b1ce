"""The corpus of CUDA kernels of what stands around a product: quantised weights, norms, epilogues."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "kernels" / "cuda_operators"
KERNELS: Mapping[str, Mapping[str, Any]] = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))


def contract_of(file: str) -> Path:
    """Return the contract of a file of the corpus."""
    return CORPUS / f"{KERNELS[file]['kernel']}.toml"
