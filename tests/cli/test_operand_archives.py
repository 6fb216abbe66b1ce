"""Archives of arrays that are not what they say: refused in one line, before memory is taken."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof

from mmaproof.cli.operand_values import read_archive
from mmaproof.spec.errors import InputError

ARRAYS = {
    "x": np.arange(12, dtype=np.uint8).reshape(3, 4),
    "y": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "none": np.empty((0, 4), dtype=np.int16),
    "one": np.array(7),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "in.npz"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(path: Path, save) -> None:
    save(path, **ARRAYS)
    found = read_archive(path)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert (found[name] == array).all() and found[name].flags.writeable


def archive(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w") as written:
        for name, content in members.items():
            written.writestr(f"{name}.npy", content)


def array(header: str, data: bytes = b"", version: bytes = b"\1\0") -> bytes:
    size = "<H" if version == b"\1\0" else "<I"
    return b"\x93NUMPY" + version + struct.pack(size, len(header)) + header.encode("latin-1") + data


def described(shape: object, descr: object = "<f8", order: object = False) -> str:
    return repr({"descr": descr, "fortran_order": order, "shape": shape})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\1\0\xff\xff",
        b"\x93NUMPY\x09\0" + bytes(50),
        array(""),
        array("{"),
        array("{'descr': '<f8'"),
        array("'''"),
        array("[" * 9000),
        array("(" * 200 + ")" * 200),
        array("-" * 9000 + "1"),
        array("\0"),
        array("__import__('os').abort()"),
        array(described((1,))),
        array(described((1 << 62,)), bytes(8)),
        array(described((1 << 40, 1 << 40)), bytes(8)),
        array(described((-1,)), bytes(8)),
        array(described((-1, -1)), bytes(8)),
        array(described((0, 1 << 70)), bytes(8)),
        array(described((1.0,)), bytes(8)),
        array(described(1), bytes(8)),
        array(described((True,)), bytes(8)),
        array(described((1,), "O"), bytes(8)),
        array(described((1,), "<U0"), b""),
        array(described((1,), "nonsense"), bytes(8)),
        array(described((1,), [("a", "O")]), bytes(8)),
        array(described((1,), {"names": ["a"]}), bytes(8)),
        array(described((1,), order=7), bytes(8)),
        array(described((2,)), bytes(17)),
    ],
)
@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0"])
def test_a_header_that_lies_is_refused(path: Path, content: bytes, version: bytes) -> None:
    archive(path, good=array(described((1,)), bytes(8)), bad=content[:6] + version + content[8:])
    with pytest.raises(InputError, match=r"in\.npz: "):
        read_archive(path)


def test_two_members_of_one_name_are_refused(path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as written:
        for _ in range(2):
            written.writestr("x.npy", array(described((1,)), bytes(8)))
    with pytest.raises(InputError, match="two arrays are called 'x'"):
        read_archive(path)


def test_an_archive_that_would_be_too_large_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmaproof.cli.operand_values.LARGEST", 1000)
    np.savez_compressed(path, x=np.zeros(10_000))
    with pytest.raises(InputError, match="at most 1000 are read"):
        read_archive(path)


def test_whatever_byte_is_damaged_it_is_read_or_refused(path: Path) -> None:
    random_ = random.Random(11)
    for save in (np.savez, np.savez_compressed):
        whole = io.BytesIO()
        save(whole, **ARRAYS)
        good = whole.getvalue()
        for _ in range(400):
            damaged = bytearray(good)
            for _ in range(random_.choice([1, 1, 2, 8])):
                damaged[random_.randrange(len(damaged))] = random_.choice([0, 1, 0x7F, 0x80, 0xFF])
            path.write_bytes(damaged[: random_.choice([len(damaged), random_.randrange(len(damaged))])])
            try:
                read_archive(path)
            except InputError as reason:
                assert str(reason).startswith(str(path))


def test_results_go_to_devices_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("in.npz", x=np.ones((4, 1)), y=np.ones((4, 1)))
    assert mmaproof("run", "xvf32ger", "in.npz", "--out", "/dev/null").status == 0
    full = mmaproof("run", "xvf32ger", "in.npz", "--out", "/dev/full")
    assert full.wrong_use and "No space left" in full.err
