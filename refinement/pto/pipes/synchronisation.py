"""Names of pipes in texts: by pipe, and by operation.

Source: PTO IR manual (set_flag, record_event, barrier); ptoas at a56b18c3.
"""

from __future__ import annotations

from types import MappingProxyType

from ....spec.pto.text.module import Module, Other
from ....spec.pto.text.statements import Barrier, Handshake, Synchronization
from ..text.errors import unsupported
from .access_history import Pipe

ALL = ("PIPE_ALL", "ALL")

_BY_OPERATION = MappingProxyType(
    {
        "TLOAD": Pipe.MTE2,
        "TSTORE_ACC": Pipe.FIX,
        "TSTORE_VEC": Pipe.MTE3,
        "TMOV_M2L": Pipe.MTE1,
        "TMOV_M2B": Pipe.MTE1,
        "TMOV_M2S": Pipe.FIX,
        "TMOV_M2V": Pipe.V,
        "TMOV_V2M": Pipe.FIX,
        "TMATMUL": Pipe.M,
        "TVEC": Pipe.V,
        "TVECWAIT_EVENT": Pipe.V,
    }
)
"""What ``record_event`` and ``wait_event`` name."""


def pipe_named(name: str) -> Pipe:
    """Return the pipe of a name, or of an operation.

    Raises
    ------
    EndedError
        If there is none.
    """
    if name in _BY_OPERATION:
        return _BY_OPERATION[name]
    plain = name.removeprefix("PIPE_")
    if plain not in Pipe.__members__:
        raise unsupported(f"pipe {name}; known: {', '.join((*Pipe, *_BY_OPERATION))}")
    return Pipe[plain]


def waits_for_all(name: str) -> bool:
    """Tell whether a barrier is one of all pipes."""
    if name in ALL:
        return True
    pipe_named(name)
    return False


def is_explicit(module: Module) -> bool:
    """Tell whether a text puts pipes in order itself, anywhere."""
    return any(
        isinstance(node, Handshake | Barrier | Synchronization)
        or (isinstance(node, Other) and node.name in ("pto.barrier_sync", "pto.set_flag_dyn", "pto.get_buf"))
        for node in module.walk()
    )
