"""Tensor maps whose elements are words of several elements of their array, as those of scale factors are."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import Edit
from paired_copies import PAIRED

from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.errors import InputError

BYTES: tuple[Edit, ...] = (
    ('name = "A"\ntype = "s32"\nshape = [2, 64]', 'name = "A"\ntype = "u8"\nshape = [2, 256]'),
    ("box = [1, 64]", 'box = [1, 256]\nelements = "u32"'),
    ('name = "C"\ntype = "s32"\nshape = [2, 64]', 'name = "C"\ntype = "u8"\nshape = [2, 256]'),
)
"""What makes the arrays ones of bytes, of which each element of the map is four."""


def test_a_box_of_words_brings_their_bytes(tmp_path: Path) -> None:
    found = PAIRED.verified(tmp_path, *BYTES)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_bytes_of_half_a_row_are_not_those_that_are_expected(tmp_path: Path) -> None:
    found = PAIRED.verified(tmp_path, *BYTES, ("[1, 256]", "[1, 128]"))
    assert found.verdict is Verdict.REFUTED


def test_a_box_of_bytes_alone_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="map-box"):
        PAIRED.verified(
            tmp_path, *BYTES, ('box = [1, 256]\nelements = "u32"', "box = [1, 512]"), ("[2, 256]", "[2, 512]")
        )


WRONG: dict[str, tuple[Edit, str]] = {
    "no whole words in a box": (("[1, 256]", "[1, 126]"), "must be multiples of 4"),
    "steps": (('"u32"', '"u32"\nelement_strides = [1, 2]'), "element_strides of a map"),
    "no type of words": (('"u32"', '"f32"'), "elements"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_words_that_do_not_suit_the_array_are_refused(case: str, tmp_path: Path) -> None:
    edit, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        PAIRED.verified(tmp_path, *BYTES, edit)
