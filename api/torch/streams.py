"""In which order streams do what the host gives them: a recording is one sequence."""

from __future__ import annotations

from dataclasses import dataclass, field

DEFAULT = 0
"""The stream that PyTorch's operations are in: CUDA's legacy default stream."""

_OTHER_DEFAULTS = {1: DEFAULT}
"""Handles of CUDA for the same stream: ``cudaStreamLegacy``."""

_FIRST = 0x5000
_STEP = 16


@dataclass
class Streams:
    """Which streams may still have work to do, and whether new work comes after all of it.

    The default stream waits for the streams that are made without ``cudaStreamNonBlocking``, and these wait
    for it. Two others wait for each other only where the host waits. Events are taken to order nothing.

    Attributes
    ----------
    busy : set of int
        The streams whose work nothing has waited for; at first the default one, which may still make inputs.
    """

    busy: set[int] = field(default_factory=lambda: {DEFAULT})
    _non_blocking: set[int] = field(default_factory=set)
    _made: int = 0

    def made(self, *, non_blocking: bool) -> int:
        """Return a new stream."""
        self._made += 1
        stream = _FIRST + self._made * _STEP
        if non_blocking:
            self._non_blocking.add(stream)
        return stream

    def given(self, handle: int) -> bool:
        """Note work in a stream; tells whether it comes after all work before."""
        stream = _OTHER_DEFAULTS.get(handle, handle)
        others = {each for each in self.busy if each != stream and not self._waits(stream, each)}
        if stream == DEFAULT:
            self.busy = {each for each in self.busy if each in self._non_blocking}
        self.busy.add(stream)
        return not others

    def _waits(self, stream: int, other: int) -> bool:
        """Tell whether work in a stream begins when that in another one has ended, by themselves."""
        if DEFAULT not in (stream, other):
            return False
        return not {stream, other} & self._non_blocking

    def waited_for(self, handle: int) -> None:
        """Note that the host waited until a stream has done its work."""
        self.busy.discard(_OTHER_DEFAULTS.get(handle, handle))

    def waited_for_all(self) -> None:
        """Note that the host waited until the device has done all work."""
        self.busy.clear()
