"""``mmaproof --report``: what a report of a defect has to say of the machine, in lines to copy."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from ..version import __version__

PACKAGES = ("numpy", "ml_dtypes", "z3-solver", "sympy", "bitwuzla", "cvc5", "python-flint", "triton", "torch")
"""Packages on which answers depend."""

PROGRAMS = ("nvcc", "ptxas", "powerpc64le-linux-gnu-gcc", "qemu-ppc64le")
"""Programs that compile kernels, or that facts were checked against."""


def report_lines() -> Iterator[str]:
    """Yield what is installed, where verdicts are cached, and the variables that change what is done."""
    from ..proofs.cache import default_directory

    yield f"mmaproof {__version__}, Python {platform.python_version()} ({sys.executable})"
    yield f"{platform.platform()}, {os.cpu_count()} processors"
    yield "packages: " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    yield "programs: " + ", ".join(f"{name} {shutil.which(name) or 'absent'}" for name in PROGRAMS)
    yield f"cache: {default_directory()}"
    named = sorted(name for name in os.environ if name.startswith("MMAPROOF_"))
    yield "variables: " + (", ".join(f"{name}={os.environ[name]}" for name in named) or "none")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
