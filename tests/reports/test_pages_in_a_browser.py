"""Every kind of page as a browser shows it: on a telephone and a wide screen, light and dark, by keyboard.

With MMAPROOF_PICTURES=DIR, pictures of all of them are left there to be looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from chromium import WIDTHS, Browser
from toy_theorems import OBLIGATIONS, THEOREMS

import mmaproof
from mmaproof.proofs import runner
from mmaproof.proofs.outcomes import tallied
from mmaproof.reports import check_report, html, legal_report
from mmaproof.reports.layout_drawing import BAND, picture

EXAMPLES = Path(__file__).parents[2] / "examples"
PRODUCT = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SCALED = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
BITS = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"
TILES = "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>"
LAYOUTS = {
    "ptx": (PRODUCT, "a"),
    "ptx-scales": (SCALED, "scale_a"),
    "ptx-metadata": ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "metadata"),
    "ptx-addresses": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "addresses"),
    "ptx-wide": (BITS, "a"),
    "power": ("xvi8ger4pp", "acc"),
    "mfma": ("v_mfma_f32_4x4x4f16", "b"),
    "pto": (TILES, "a"),
}
READABLE = 4.0
"""The least contrast of a text; WCAG asks 4.5 of small and 3 of large or bold texts."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {}
    for name, (instruction, operand) in LAYOUTS.items():
        answer = mmaproof.layout(instruction, operand)
        texts[f"layout-{name}.html"] = answer.page()
        texts[f"layout-{name}.svg"] = answer._repr_svg_()
    outcomes = runner.run(list(OBLIGATIONS.values()), runner.Settings(jobs=0))
    run = tallied(list(OBLIGATIONS.values()), outcomes, THEOREMS, 1.5, ())
    texts["check.html"] = html.render(check_report.report(run, "1.2.3"))
    kernel = folder / "faulty.ptx"
    text = (EXAMPLES / "verify" / "mma_s4_sm80.ptx").read_text(encoding="utf-8")
    kernel.write_text(text.replace("{%r96, %r97, %r98, %r99}", "{%r97, %r96, %r98, %r99}"), encoding="utf-8")
    texts["verify.html"] = html.render(mmaproof.verify(kernel, EXAMPLES / "verify" / "mma_s4.toml"))
    texts["gate.html"] = html.render(mmaproof.gate(EXAMPLES / "gate" / "dsl_targets_wrong.json"))
    judged = [mmaproof.legal(text) for text in (PRODUCT, "xvi8ger4pp a1,vs5,vs34", "tmatmul")]
    texts["legal.html"] = html.render(legal_report.report(list(enumerate(judged, start=1)), "1.2.3", 0.5))
    for name, page in texts.items():
        (folder / name).write_text(page, encoding="utf-8")
    return folder


NAMES = [*(f"layout-{name}.{kind}" for name in LAYOUTS for kind in ("html", "svg")),
         "check.html", "verify.html", "gate.html", "legal.html"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_its_window_and_can_be_read(browser: Browser, pages: Path, name: str) -> None:
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(pages / name, width=width, dark=dark)
            if name == "check.html":
                browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
            assert browser.overflow() <= 0, (name, width)
            contrasts = browser.contrasts()
            assert contrasts
            assert {text: ratio for text, ratio in contrasts.items() if ratio < READABLE} == {}, (name, dark)
            if folder := os.environ.get("MMAPROOF_PICTURES"):
                shown = Path(folder) / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                shown.parent.mkdir(parents=True, exist_ok=True)
                shown.write_bytes(browser.picture())


def test_a_page_of_legality_speaks_of_instructions(browser: Browser, pages: Path) -> None:
    browser.open(pages / "legal.html")
    shown = browser.evaluate("document.body.innerText")
    assert "3 instructions, 1 legal, 1 illegal, 1 undecided" in shown
    assert "line 2 illegal" in shown and "Moreira et al." in shown
    assert "drift" not in shown and "they say" not in shown


def test_a_layout_is_gone_through_by_keys_and_its_address_restores_it(browser: Browser, pages: Path) -> None:
    page = pages / "layout-ptx.html"
    browser.open(page)
    assert browser.evaluate("document.querySelectorAll('section.operand').length") == 4
    browser.evaluate("document.querySelector('#operand-a td').focus()")
    browser.press("ArrowRight", "ArrowRight", "ArrowDown", "Enter")
    said = browser.evaluate("document.getElementById('said').textContent")
    assert said.startswith("a(1, 2) is held by T5\n") and "T5 holds of b: (2, 1)" in said
    fragment = browser.evaluate("location.hash")
    left = browser.evaluate("document.getElementById('sheets').innerHTML")
    browser.press("ArrowDown", "Enter")
    assert browser.evaluate("document.getElementById('said').textContent").startswith("a(2, 2) is held by T9")
    browser.open(page, fragment.removeprefix("#"))
    assert browser.evaluate("document.getElementById('said').textContent") == said
    assert browser.evaluate("document.getElementById('sheets').innerHTML") == left


def test_what_blocks_hold_begins_in_the_first_column(browser: Browser, pages: Path) -> None:
    browser.open(pages / "layout-pto.html", "show=a&view=registers")
    first = "[...document.querySelectorAll('tr')].map(line => line.cells[1].textContent)"
    # Titles, then a row for each block.
    assert browser.evaluate(first) == ["0", "(0, 0)", "(0, 16)"]


def test_wide_grids_go_on_beneath() -> None:
    drawn = picture(mmaproof.layout(BITS, "a").table)
    assert len(drawn.squares) == 16 * 256
    assert {square.x for square in drawn.squares} == {square.x for square in drawn.squares[:BAND]}
    assert drawn.width < 1600
    titles = [label for label in drawn.labels if label.anchor == "middle"]
    assert [label.text for label in titles] == [str(column) for column in range(256)]
