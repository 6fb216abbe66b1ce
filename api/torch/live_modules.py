"""Modules that a program has in memory, taken to the process that runs host code.

What they are made of is pickled there, and the files that define their classes are imported again, where
extensions and launches are recorded: nothing that the caller's own process has loaded can be.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ...spec.errors import InputError

_MAIN = "mmaproof_main"

_FILE = """from mmaproof.api.torch.live_modules import restored


class {name}:
    def __new__(cls):
        return restored({path!r})


def get_inputs():
    return restored({inputs!r})


def get_init_inputs():
    return []
"""


def written(folder: Path, reference: Any, candidate: Any, inputs: Sequence[Any]) -> tuple[Path, Path]:
    """Write both modules, and what they are called with, as files of a problem and a solution.

    Raises
    ------
    InputError
        If something of them can't be taken to another process.
    """
    given = folder / "inputs.pickle"
    given.write_bytes(_pickled(list(inputs), "inputs"))
    files = []
    for name, value, what in (("Model", reference, "reference"), ("ModelNew", candidate, "candidate")):
        held = folder / f"{what}.pickle"
        held.write_bytes(_pickled(value, f"the {what}"))
        path = folder / f"{what}_module.py"
        text = _FILE.format(name=name, path=str(held.resolve()), inputs=str(given.resolve()))
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return files[0], files[1]


def file_of(value: Any) -> Path | None:
    """Return the file that defines a function, or the class of a module; None where there is none."""
    of = value if hasattr(value, "__qualname__") else type(value)
    file = getattr(sys.modules.get(of.__module__), "__file__", None)
    return Path(file) if file else None


def name_of(value: Any) -> str:
    """Return what a verdict calls a module."""
    of = value if hasattr(value, "__qualname__") else type(value)
    return f"{file_of(value) or of.__module__}:{of.__qualname__}"


class _Pickler(pickle.Pickler):
    """Takes modules of Python, as those of extensions are, by the name that another module has for them."""

    def reducer_override(self, value: Any) -> Any:
        """Return how a module of Python is found again; see `pickle.Pickler`."""
        if not isinstance(value, ModuleType):
            return NotImplemented
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) is None or module is value:
                continue
            for key, held in list(vars(module).items()):
                if held is value:
                    return _global, (name, key)
        return importlib.import_module, (value.__name__,)


def _pickled(value: Any, what: str) -> bytes:
    stream = io.BytesIO()
    try:
        _Pickler(stream).dump(value)
    except Exception as reason:  # what objects raise that can't be pickled
        raise InputError(
            f"{what} can't be taken to the process that records it, where the files that define its class "
            f"are imported again: {type(reason).__name__}: {reason}"
        ) from None
    main = getattr(sys.modules["__main__"], "__file__", None)
    return pickle.dumps((sys.path, str(Path(main).resolve()) if main else None, stream.getvalue()))


def _global(module: str, name: str) -> Any:
    return getattr(_module(module), name)


def _module(name: str) -> ModuleType:
    """Return a module by its name in the caller's process."""
    return importlib.import_module(_MAIN if name == "__main__" else name)


class _Unpickler(pickle.Unpickler):
    """Finds what the caller's main program defines."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function; see `pickle.Unpickler`."""
        found: Any = _module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


def restored(path: str) -> Any:
    """Return what was written, with its classes imported; runs host code."""
    folders, main, content = pickle.loads(Path(path).read_bytes())
    sys.path += [folder for folder in folders if folder not in sys.path]
    if main is not None and _MAIN not in sys.modules:
        _import_main(main)
    return _Unpickler(io.BytesIO(content)).load()


def _import_main(main: str) -> None:
    """Import the caller's program by another name, so that it only defines what it defines."""

    class Finder:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
            return importlib.util.spec_from_file_location(name, main) if name == _MAIN else None

    sys.meta_path.insert(0, Finder)
