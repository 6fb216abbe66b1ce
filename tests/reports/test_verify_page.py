"""The page of ``verify``: inputs of a counterexample, and figures in words."""

from __future__ import annotations

import re
from pathlib import Path

import mmaproof
from mmaproof.reports import html
from mmaproof.reports.kernel_counterexample_text import SHOWN, input_lines

EXAMPLES = Path(__file__).parents[2] / "examples" / "verify"


def given(fmt: str, shape: list[int], bits: list[int]) -> dict[str, object]:
    return {"format": fmt, "shape": shape, "bits": [f"{word:x}" for word in bits]}


def shown(name: str, array: dict[str, object]) -> str:
    (line,) = input_lines({name: array})
    return line


def test_an_input_is_its_elements_that_are_not_zero() -> None:
    assert shown("A", given("s4", [2, 2], [0, 15, 0, 1])) == (
        "A: s4[2, 2]: A[0,1] = -1 (0xf), A[1,1] = 1 (0x1), the others are 0"
    )
    assert shown("A", given("f32", [2], [0, 0])) == "A: f32[2] = 0"
    assert shown("alpha", given("f32", [], [0x3F800000])) == "alpha: f32 = 1 (0x3f800000)"
    many = shown("A", given("u8", [20], [1] * 20))
    assert many.endswith(f"{20 - SHOWN} more are not 0") and many.count("0x1") == SHOWN


def test_the_page_of_a_refuted_kernel_shows_inputs_and_figures(tmp_path: Path) -> None:
    kernel = tmp_path / "faulty.ptx"
    text = (EXAMPLES / "mma_s4_sm80.ptx").read_text(encoding="utf-8")
    kernel.write_text(text.replace("{%r96, %r97, %r98, %r99}", "{%r97, %r96, %r98, %r99}"), encoding="utf-8")
    report = mmaproof.verify(kernel, EXAMPLES / "mma_s4.toml")
    page = html.render(report)
    assert report.inputs == [
        "A: s4[32, 640]: A[8,0] = 1 (0x1), the others are 0",
        "B: s4[640, 32]: B[0,0] = 1 (0x1), the others are 0",
    ]
    for line in report.inputs:
        assert line in page
    assert re.search(r"<td>thread instructions</td><td class=\"number\">[\d,]+</td>", page)
    assert "{&#39;" not in page, "no structure of Python"
