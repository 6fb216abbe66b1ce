"""Tensor maps whose elements are words of several elements of their array, as those of scale factors are."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import Edit
from paired_copies import PAIRED_BYTES

from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.errors import InputError


def test_a_box_of_words_brings_their_bytes(tmp_path: Path) -> None:
    found = PAIRED_BYTES.verified(tmp_path)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_bytes_of_half_a_row_are_not_those_that_are_expected(tmp_path: Path) -> None:
    found = PAIRED_BYTES.verified(tmp_path, ("[1, 256]", "[1, 128]"))
    assert found.verdict is Verdict.REFUTED


def test_a_box_of_bytes_alone_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="map-box"):
        PAIRED_BYTES.verified(
            tmp_path, ('box = [1, 256]\nelements = "u32"', "box = [1, 512]"), ("[2, 256]", "[2, 512]")
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
        PAIRED_BYTES.verified(tmp_path, edit)
