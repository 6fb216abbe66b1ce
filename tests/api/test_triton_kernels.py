"""Kernels of Triton from Python; where Triton is not installed, the message that says so."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import mmaproof
from mmaproof.triton import compiled, contract, verify

EXAMPLE = Path(__file__).parents[2] / "examples" / "triton"
pytestmark = pytest.mark.filterwarnings("ignore")  # of Triton, about itself
SIGNATURE = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
SIGNATURE |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
TILES = {"BM": 32, "BN": 32, "BK": 32}


def test_without_triton_it_is_wrong_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(mmaproof.InputError, match="kernels of Triton need Triton"):
        compiled(None, {}, {}, tmp_path)


@pytest.fixture(scope="module")
def product() -> Any:
    pytest.importorskip("triton")
    return runpy.run_path(str(EXAMPLE / "product.py"))["product"]


def test_a_kernel_is_compiled_and_verified(product: Any) -> None:
    assert verify(product, SIGNATURE, TILES, EXAMPLE / "product.toml").result.verdict == "verified"
    assert 'entry = "product"' in contract(product, SIGNATURE, TILES)


def test_what_triton_does_not_compile_is_wrong_use(product: Any, tmp_path: Path) -> None:
    with pytest.raises(mmaproof.InputError, match="does not compile product"):
        compiled(product, SIGNATURE, TILES | {"BM": 33}, tmp_path)


def test_the_folder_is_made_or_named(product: Any, tmp_path: Path) -> None:
    assert compiled(product, SIGNATURE, TILES, tmp_path / "new" / "one").parent.is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(mmaproof.InputError, match=r"file: can't be written: "):
        compiled(product, SIGNATURE, TILES, tmp_path / "file")
