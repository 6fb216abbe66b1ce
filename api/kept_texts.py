"""Texts in the cache that functions of the verifier's code alone returned."""

from __future__ import annotations

from functools import cached_property

from ..proofs.cache import Cache, default_directory
from ..proofs.code_state import code_state
from ..spec.errors import InputError

_FOLDERS = (
    "spec",
    "refinement/analysis",
    "refinement/enclosures",
    "refinement/findings",
    "refinement/normal_forms/functions",
    "refinement/rules",
    "refinement/terms",
)
"""Folders of what proves library functions."""


class KeptTexts:
    """Texts of this state of the code; a cache that can't be used keeps none."""

    @cached_property
    def _cache(self) -> Cache | None:
        try:
            return Cache(default_directory())
        except InputError:
            return None

    @cached_property
    def _state(self) -> str:
        return code_state(_FOLDERS)

    def text(self, name: str) -> str | None:
        """Return the text of a name, None where there is none."""
        return self._cache.text(self._state, name) if self._cache else None

    def keep(self, name: str, text: str) -> None:
        """Remember a text."""
        if self._cache:
            self._cache.keep_text(self._state, name, text)


TEXTS = KeptTexts()
"""Those of this process."""
