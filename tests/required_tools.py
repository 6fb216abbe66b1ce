"""Tools that the tests take for oracles, and that pip does not install."""

from __future__ import annotations

import os
import shutil

import pytest


def required_tool(*names: str, package: str) -> str:
    """Return the path of the first of `names` that is installed; fail in CI, skip elsewhere without it."""
    for name in names:
        if path := shutil.which(name):
            return path
    reason = f"{names[0]} is not installed (Debian package {package})"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
