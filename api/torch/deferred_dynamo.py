"""TorchDynamo, imported only when host code asks for it: fake tensors read two numbers of its configuration.

Importing all of it takes as long as the rest of PyTorch, in each process that records modules.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

NAME = "torch._dynamo"


class _Deferred(ModuleType):
    """A package that executes itself for any attribute that it lacks, such as its path for its modules."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if name == "disable":  # PyTorch's own functions ask for it before they are called first
            return _as_it_is
        self.__class__ = ModuleType  # type: ignore[assignment]
        assert self.__spec__ is not None and self.__spec__.loader is not None
        self.__path__ = self.__spec__.submodule_search_locations or []
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _as_it_is(function: Any = None, *_: Any, **__: Any) -> Any:
    """Return a function, or a decorator that does: what is never compiled needs no protection from it."""
    if function is None:
        unchanged: Callable[[Any], Any] = _as_it_is
        return unchanged
    return function


def defer() -> None:
    """Import it when it is needed, if it has not been imported yet."""
    spec = importlib.util.find_spec(NAME) if NAME not in sys.modules else None
    if spec is None:
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Deferred
    package, _, name = NAME.partition(".")
    sys.modules[NAME] = module
    setattr(sys.modules[package], name, module)
    importlib.import_module(f"{NAME}.config")
    del module.__path__
