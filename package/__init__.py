"""Formal specification and symbolic verifier of matrix-multiply instructions.

The functions are those of the command line: `check` proves the catalogue, `verify` a kernel, `gate` compares
tables, `legal`, `layout`, `run` and `explain` answer questions about instructions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from . import torch as torch
    from . import triton as triton
    from .api.compiling import compiled as compiled
    from .api.instructions import explain as explain
    from .api.instructions import layout as layout
    from .api.instructions import legal as legal
    from .api.instructions import run as run
    from .api.instructions import trace as trace
    from .api.kernels import NotVerifiedError as NotVerifiedError
    from .api.kernels import assert_verified as assert_verified
    from .api.kernels import contract as contract
    from .api.kernels import recheck as recheck
    from .api.kernels import verify as verify
    from .api.proving import check as check
    from .api.tables import gate as gate
    from .spec.errors import InputError as InputError
    from .spec.errors import UnsupportedError as UnsupportedError

_HOMES = {
    "InputError": ".spec.errors",
    "NotVerifiedError": ".api.kernels",
    "UnsupportedError": ".spec.errors",
    "assert_verified": ".api.kernels",
    "check": ".api.proving",
    "compiled": ".api.compiling",
    "contract": ".api.kernels",
    "explain": ".api.instructions",
    "gate": ".api.tables",
    "layout": ".api.instructions",
    "legal": ".api.instructions",
    "recheck": ".api.kernels",
    "run": ".api.instructions",
    "torch": "",
    "trace": ".api.instructions",
    "triton": "",
    "verify": ".api.kernels",
}
"""Where each name is, of modules nowhere; it is imported when it is used."""

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not (home := _HOMES[name]):
        return import_module(f".{name}", __name__)
    return getattr(import_module(home, __name__), name)


def __dir__() -> list[str]:
    return __all__
