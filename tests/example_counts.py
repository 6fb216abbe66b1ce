"""How many examples of a property a run tries: a quarter, and all of them in the thorough profile."""

from hypothesis import settings

THOROUGH = "thorough"
"""The profile of ``pytest --hypothesis-profile=thorough``."""


def examples(count: int) -> int:
    """Return how many of the examples that a property asks for are tried."""
    return count if settings.get_current_profile_name() == THOROUGH else count // 4
