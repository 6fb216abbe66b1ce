"""NumPy at the first use of a name of it: questions about legality, rules and theorems never come to that."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Final

_LOADING: Final = RLock()


class _Deferred(ModuleType):
    """A module whose code runs when a name is asked of it that it does not have yet.

    ``importlib.util.LazyLoader`` is not used: a second ``import`` of its modules asks for their
    ``__spec__``, and in Python 3.11 any name that is asked for runs the code.
    """

    def __getattr__(self, name: str) -> object:
        with _LOADING:
            if "__path__" not in self.__dict__:
                _run(self)
            elif type(self) is _Deferred:  # a part of it asks while its code runs
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} yet")
        return getattr(self, name)


def defer_numpy() -> None:
    """Let ``import numpy`` cost nothing until a name of it is used; nothing happens where it is imported."""
    spec = None if "numpy" in sys.modules else find_spec("numpy")
    if spec is None:
        return
    module = module_from_spec(spec)
    del module.__path__  # asked for by whoever imports a module inside
    module.__class__ = _Deferred
    sys.modules["numpy"] = module


def _run(module: ModuleType) -> None:
    spec = module.__spec__
    assert spec is not None and spec.loader is not None
    module.__path__ = spec.submodule_search_locations or []
    spec.loader.exec_module(module)
    module.__class__ = ModuleType
