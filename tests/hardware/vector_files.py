"""Files of recorded vectors: compressed numpy archives with a JSON header."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .cases import Case

VECTORS = Path(__file__).parent / "vectors"
"""Where committed files are."""

Array = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Recording:
    """Vectors of one case: every array (vectors, …) of its kernel.

    Attributes
    ----------
    case : Case
        What was executed.
    inputs : dict
        Arrays before.
    result : array
        `Case.result` after.
    """

    case: Case
    inputs: dict[str, Array]
    result: Array


@dataclass(frozen=True)
class VectorFile:
    """What one device did.

    Attributes
    ----------
    target : str
        What its kernels were compiled for.
    device, driver : str
        What executed them.
    recordings : sequence of Recording
        The vectors.
    """

    target: str
    device: str
    driver: str
    recordings: Sequence[Recording]

    def write(self, path: Path) -> None:
        """Write the file."""
        header = {
            "target": self.target,
            "device": self.device,
            "driver": self.driver,
            "cases": [recording.case.header() for recording in self.recordings],
        }
        arrays = {"header": np.array(json.dumps(header))}
        for number, recording in enumerate(self.recordings):
            arrays |= {f"{number}.before.{name}": array for name, array in recording.inputs.items()}
            arrays[f"{number}.after"] = recording.result
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **arrays)

    @classmethod
    def read(cls, path: Path) -> VectorFile:
        """Read a file."""
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            recordings = []
            for number, described in enumerate(header["cases"]):
                case = Case.from_header(described)
                inputs = {name: archive[f"{number}.before.{name}"] for name in case.inputs}
                recordings.append(Recording(case, inputs, archive[f"{number}.after"]))
        return cls(header["target"], header["device"], header["driver"], recordings)
