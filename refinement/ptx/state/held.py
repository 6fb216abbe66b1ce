"""What an execution holds besides registers and memory, such as barrier objects and allocations."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self


class _Holds(Protocol):
    """An execution."""

    state: dict[str, Any]


class Held:
    """A part of an execution's state, of which there is one of each class.

    Attributes
    ----------
    KEY : str
        What it is kept under.
    """

    KEY: ClassVar[str]

    @classmethod
    def of(cls, execution: _Holds) -> Self:
        """Return that of an execution, a new one where it has none yet."""
        if cls.KEY not in execution.state:
            execution.state[cls.KEY] = cls.begun(execution)
        held = execution.state[cls.KEY]
        assert isinstance(held, cls)
        return held

    @classmethod
    def begun(cls, execution: Any) -> Self:
        """Return a new one, of an execution that has none yet."""
        return cls()
