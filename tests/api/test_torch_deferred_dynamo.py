"""TorchDynamo is executed when something of it is needed, beside what fake tensors ask for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from mmaproof.api.torch import deferred_dynamo


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of a package, which notes that it is executed, and whose modules need it."""
    inner = tmp_path / "outer_package" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("ran = []\n")
    (inner / "__init__.py").write_text(
        "import outer_package\nouter_package.ran.append(1)\nfrom . import config, other\n"
        "from .other import compiled\n"
    )
    (inner / "config.py").write_text("enabled = True\n")
    (inner / "other.py").write_text("import outer_package\nassert outer_package.ran\ncompiled = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("outer_package", "outer_package.inner", "outer_package.inner.config"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(deferred_dynamo, "NAME", "outer_package.inner")
    return "outer_package"


@pytest.mark.parametrize("need", ["attribute", "module"])
def test_is_executed_once_it_is_needed(package: str, need: str) -> None:
    outer = importlib.import_module(package)
    deferred_dynamo.defer()
    importlib.import_module(f"{package}.inner.config")
    assert outer.inner.config.enabled
    assert outer.inner.disable(len) is len
    assert not outer.ran
    if need == "module":
        assert importlib.import_module(f"{package}.inner.other").compiled == 3
    assert outer.inner.compiled == 3
    assert outer.ran == [1]


def test_what_is_imported_stays(package: str) -> None:
    inner = importlib.import_module(f"{package}.inner")
    deferred_dynamo.defer()
    assert sys.modules[f"{package}.inner"] is inner
