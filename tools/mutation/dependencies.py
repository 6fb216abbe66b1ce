"""Which blocks of the specification each obligation depends on, recorded while it is decided.

A block is a run of statements of a function without a branch between them. An obligation depends on a block
that it enters, and on one that was entered when a value was computed that it finds in a cache. What modules
do when they are imported, and what is entered while the obligations are built, any of them may depend on.
Everything of the project must be imported after `Recorder.start`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sysconfig
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .blocks import blocks_of, bodies, first_line

Place = tuple[str, int]
"""File and first line of a function, with its decorators, or of a block; of a module, line 1."""

_ENTERED = "__entered__"
"""The built-in that a recorded function calls first."""


class Recorder:
    """Records the functions of some files that are entered.

    Parameters
    ----------
    watched : frozenset of str
        The files.
    """

    def __init__(self, watched: frozenset[str]) -> None:
        self._watched = watched
        self._merged: set[int] = set()
        self._sets: dict[frozenset[Place], frozenset[Place]] = {}
        self.shared: set[Place] = set()
        """What any obligation may depend on: all that is entered outside of `recording`."""
        self._current = self.shared
        self._read = ""

    def redirect(self, found: set[Place], read: str = "") -> None:
        """Record in a set from now on, what modules do when they are imported aside, but for a file's."""
        self._current, self._merged, self._read = found, set(), read

    def start(self) -> None:
        """Have what is imported from now on record, and remember what its cached values depend on."""
        setattr(builtins, _ENTERED, self._enter)
        replaced = {
            "lru_cache": self._lru_cache,
            "cache": self._lru_cache(maxsize=None),
            "cached_property": self._cached_property(),
        }
        for name, ours in replaced.items():
            setattr(functools, name, ours)
        get_code, exec_module = SourceFileLoader.get_code, SourceFileLoader.exec_module

        def code_of(loader: SourceFileLoader, name: str) -> CodeType | None:
            file = loader.path
            return _recording(file) if file in self._watched else get_code(loader, name)

        def execute(loader: SourceFileLoader, module: ModuleType) -> None:
            with self._into(self._current if loader.path == self._read else self.shared):
                if loader.path in self._watched:
                    self._enter((loader.path, 1))
                exec_module(loader, module)

        for name, method in (("get_code", code_of), ("exec_module", execute)):
            setattr(SourceFileLoader, name, method)

    def _enter(self, place: Place) -> None:
        self._current.add(place)

    @contextmanager
    def recording(self) -> Iterator[set[Place]]:
        """Record what is entered inside in a set of its own."""
        found: set[Place] = set()
        with self._into(found):
            yield found

    @contextmanager
    def _into(self, found: set[Place]) -> Iterator[None]:
        outer = self._current, self._merged
        self._current, self._merged = found, set()
        try:
            yield
        finally:
            self._current, self._merged = outer

    def _merge(self, found: Set[Place]) -> None:
        if id(found) not in self._merged:
            self._merged.add(id(found))
            self._current |= found

    def _computed(
        self, function: Callable[..., Any], arguments: Any, named: Any
    ) -> tuple[Any, frozenset[Place]]:
        """Return what a function returns, and what that depends on: equal sets are one, and are kept."""
        found: set[Place] = set()
        try:
            with self._into(found):
                value = function(*arguments, **named)
        except BaseException:
            self._current |= found
            raise
        same = frozenset(found)
        return value, self._sets.setdefault(same, same)

    def _lru_cache(self, maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return self._lru_cache()(maxsize)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            if _is_foreign(function):
                original: Callable[..., Any] = _LRU_CACHE(maxsize, typed)(function)
                return original

            def computed(*arguments: Any, **named: Any) -> tuple[Any, frozenset[Place]]:
                return self._computed(function, arguments, named)

            remembered = _LRU_CACHE(maxsize, typed)(computed)

            @functools.wraps(function)
            def called(*arguments: Any, **named: Any) -> Any:
                value, found = remembered(*arguments, **named)
                self._merge(found)
                return value

            called.cache_clear = remembered.cache_clear  # type: ignore[attr-defined]
            called.cache_info = remembered.cache_info  # type: ignore[attr-defined]
            return called

        return decorate

    def _cached_property(self) -> type[Any]:
        recorder = self

        class CachedProperty:
            """A property that keeps its value, and what that depends on."""

            def __new__(cls, function: Callable[[Any], Any]) -> Any:
                foreign = cls is CachedProperty and _is_foreign(function)
                return _CACHED_PROPERTY(function) if foreign else super().__new__(cls)

            def __init__(self, function: Callable[[Any], Any]) -> None:
                self.function = function
                self.__doc__ = function.__doc__

            def __set_name__(self, owner: type, name: str) -> None:
                self.name = name

            def __get__(self, instance: Any, owner: type | None = None) -> Any:
                if instance is None:
                    return self
                if self.name not in vars(instance):
                    vars(instance)[self.name] = recorder._computed(self.function, (instance,), {})
                value, found = vars(instance)[self.name]
                recorder._merge(found)
                return value

            def __set__(self, instance: Any, value: Any) -> None:
                raise AttributeError(f"{self.name} can't be set")

        return CachedProperty


_LRU_CACHE = functools.lru_cache
_CACHED_PROPERTY = functools.cached_property
_OWN = str(Path(__file__).parents[2])
_STANDARD = sysconfig.get_path("stdlib")
_INSTALLED = {"site-packages", "dist-packages"}


def _is_foreign(function: Any) -> bool:
    """Whether a function is of Python or of another package: no value of its depends on the specification."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    foreign = file.startswith(_STANDARD) or not _INSTALLED.isdisjoint(Path(file).parts)
    return foreign and not file.startswith(_OWN)


def _recording(file: str) -> CodeType:
    """Return the code of a file whose functions and blocks call the recorder first."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))

    def call(line: int) -> ast.stmt:
        (statement,) = ast.parse(f"{_ENTERED}({(file, line)!r})").body
        return statement

    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        documented = ast.get_docstring(function) is not None
        for body in bodies(function):
            begins = {id(block[0]) for block in blocks_of(body)}
            body[:] = [each for st in body for each in ([call(st.lineno), st] if id(st) in begins else [st])]
        if documented:
            function.body[:2] = function.body[1::-1]
        function.body.insert(int(documented), call(first_line(function)))
    code: CodeType = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    return code
