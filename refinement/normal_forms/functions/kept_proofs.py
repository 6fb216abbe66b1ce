"""Texts that outlive a process, by name, where somebody keeps them: what was proved of library functions."""

from __future__ import annotations

from typing import Protocol


class Texts(Protocol):
    """Keeps texts that are functions of the code and of their names alone."""

    def text(self, name: str) -> str | None:
        """Return the text of a name, None where there is none."""

    def keep(self, name: str, text: str) -> None:
        """Remember a text."""


class _Forgetting:
    """Keeps nothing."""

    def text(self, name: str) -> str | None:
        return None

    def keep(self, name: str, text: str) -> None:
        pass


_TEXTS: list[Texts] = [_Forgetting()]


def use(texts: Texts) -> None:
    """Let texts be kept by an object, from now on."""
    _TEXTS[:] = [texts]


def kept() -> Texts:
    """Return who keeps texts."""
    return _TEXTS[0]
