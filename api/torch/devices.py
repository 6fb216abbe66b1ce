"""What host code may ask of a device, for each compute capability: of one device that has it."""

from __future__ import annotations

from dataclasses import dataclass

from .recording import NotRecordedError

STATIC = 49152
"""Bytes of shared memory that a block has without asking for more."""


@dataclass(frozen=True)
class Device:
    """A device.

    Attributes
    ----------
    capability : int
        80 for ``sm_80``.
    multiprocessors : int
        Their number.
    shared : int
        Bytes of shared memory that a block can ask for.
    shared_of_all : int
        Bytes of shared memory of a multiprocessor.
    threads : int
        Threads of a multiprocessor.
    """

    capability: int
    multiprocessors: int
    shared: int
    shared_of_all: int
    threads: int


DEVICES = {
    each.capability: each
    for each in (
        Device(70, 80, 98304, 98304, 2048),
        Device(75, 40, 65536, 65536, 1024),
        Device(80, 108, 166912, 167936, 2048),
        Device(86, 82, 101376, 102400, 1536),
        Device(89, 128, 101376, 102400, 1536),
        Device(90, 132, 232448, 233472, 2048),
        Device(100, 148, 232448, 233472, 2048),
        Device(120, 170, 101376, 102400, 1536),
    )
}
"""V100, T4, A100, RTX 3090, RTX 4090, H100, B200, RTX 5090."""


def device_for(target: str) -> Device:
    """Return the device of a target, ``sm_80``.

    Raises
    ------
    NotRecordedError
        If none is known.
    """
    capability = int(target.removeprefix("sm_").rstrip("af"))
    if capability not in DEVICES:
        known = ", ".join(f"sm_{device}" for device in DEVICES)
        raise NotRecordedError(f"a query of device properties of {target}; known: {known}")
    return DEVICES[capability]
