"""Operands from outside: ``x=1,2,3,4`` on the command line, and arrays of ``.npz`` files, not too large."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..spec.errors import InputError

if TYPE_CHECKING:
    from ..spec.algebra import Array
    from ..spec.drawn_arrays import DrawnArrays


def drawn_arrays(texts: Sequence[str], seed: int | None) -> DrawnArrays:
    """Return the operands that are written, and what draws the others.

    Raises
    ------
    InputError
        If a text is not ``NAME=NUMBERS``, a name stands twice, or the seed is negative.
    """
    import numpy as np

    from ..spec.drawn_arrays import DrawnArrays

    if seed is not None and seed < 0:
        raise InputError(f"--random takes an integer from 0 up, not {seed}")
    literals = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        if name in literals:
            raise InputError(f"{name!r} is given twice")
        literals[name] = _numbers(name, numbers)
    arrays = {
        name: np.array(each, None if any(isinstance(n, float) or n < 0 for n in each) else np.uint64)
        for name, each in literals.items()
    }
    return DrawnArrays(arrays, seed)


def _numbers(name: str, text: str) -> list[int] | list[float]:
    parts = [part.strip() for part in text.split(",")]
    try:
        integers = [int(part, 0) for part in parts]
    except ValueError:
        pass
    else:
        if max(integers) >= 1 << 64 or min(integers) < -(1 << 63):
            raise InputError(f"{name}={text[:60]}: an integer has more than 64 bits")
        return integers
    try:
        return [_number(part) for part in parts]
    except ValueError:
        raise InputError(f"{name}={text[:60]} is not NAME=NUMBERS, such as x=1,2.5,0x10") from None
    except OverflowError:
        raise InputError(f"{name}={text[:60]} has a number that 64 bits don't hold") from None


def _number(text: str) -> float:
    hexadecimal = "x" in text.lower()
    number = float.fromhex(text) if hexadecimal else float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise OverflowError(text)
    digits = text.lower().partition("p" if hexadecimal else "e")[0]
    if number == 0 and set(digits) & set("123456789abcdef"):
        raise OverflowError(text)
    return number


LARGEST = 4 << 30
"""Bytes of all arrays of the largest archive that is read."""


def read_archive(path: Path) -> dict[str, Array]:
    """Read the arrays of an ``.npz`` file by name.

    Raises
    ------
    InputError
        If it can't be read, is no archive of plain arrays, or one of them is another size than it says.
    """
    where = str(path)
    try:
        with path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            if stream.read(6) == b"\x93NUMPY":
                raise InputError("one array (.npy); an .npz of named arrays is needed", where)
            return _arrays(stream)
    except InputError as reason:
        raise reason if reason.where else InputError(str(reason), where) from None
    except OSError as reason:
        raise InputError(f"can't be read: {reason.strerror or reason}", where) from None
    except Exception as reason:  # zipfile, zlib and numpy's parser of headers raise what they like
        raise InputError(
            f"not an .npz file of plain arrays: {reason or type(reason).__name__}", where
        ) from None


def _arrays(stream: IO[bytes]) -> dict[str, Array]:
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        if (size := sum(member.file_size for member in members)) > LARGEST:
            raise InputError(f"arrays of {size} bytes; at most {LARGEST} are read")
        found: dict[str, Array] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in found:
                raise InputError(f"two arrays are called {name!r}")
            with archive.open(member) as content:
                found[name] = _array(content, name, member.file_size)
    return found


def _array(content: IO[bytes], name: str, size: int) -> Array:
    """Read one array, whose header is compared with its size before anything is allocated."""
    import numpy as np
    from numpy.lib import format as npy

    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(
        npy.read_magic(content)
    )
    if header is None:
        raise InputError(f"the array {name!r} has an unsupported version of the .npy format")
    shape, fortran, dtype = header(content)
    if dtype.hasobject:
        raise InputError(f"the array {name!r} holds objects, not numbers")
    data = bytearray(content.read())  # arrays that can be written to
    count = 1
    for extent in shape:
        count *= extent
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) or not dtype.itemsize:
        raise InputError(
            f"the array {name!r} has {len(data)} bytes of {size}; its header says {shape} of {dtype}"
        )
    flat = np.frombuffer(data, dtype)
    return flat.reshape(shape[::-1]).transpose() if fortran else flat.reshape(shape)
