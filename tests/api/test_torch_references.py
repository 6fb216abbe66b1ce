"""Operations of references are read as PyTorch computes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_references import REFERENCES

from mmaproof.api.torch.numbers import disagreement
from mmaproof.api.torch.untrusted import Modules, recorded
from mmaproof.torch import Limits

REFERENCE = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, NAMES):
        return EXPRESSION


def get_inputs():
    return [INPUTS]
"""

NOT_READ = {"assigned": "index_put"}
"""Expressions that are refused by name."""


def test_references_are_read_as_pytorch_computes_them(tmp_path: Path) -> None:
    """Each as a program in numpy, held against PyTorch's own run."""
    pytest.importorskip("torch")
    wrong = {}
    for name, (expression, inputs) in REFERENCES.items():
        folder = tmp_path / name
        folder.mkdir()
        names = ", ".join(("x", "y")[: len(inputs)])
        text = REFERENCE.replace("NAMES", names).replace("EXPRESSION", expression)
        path = folder / "problem.py"
        path.write_text(text.replace("INPUTS", ", ".join(inputs)), encoding="utf-8")
        found = recorded(Modules(path, path, folder, None, "sm_80", Limits()), [{}], 10**6)
        if found.reference.recording is None:
            wrong[name] = found.reference.reason
            continue
        try:
            differs = disagreement(found.reference.recording, folder / "numbers.npz")
        except Exception as reason:  # an operation that does not take what it is given
            differs = f"{type(reason).__name__}: {reason}"
        if differs:
            wrong[name] = differs
    assert wrong.keys() == NOT_READ.keys(), wrong
    assert all(NOT_READ[name] in wrong[name] for name in wrong)
