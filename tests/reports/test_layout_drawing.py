"""Pictures and pages of layouts: every element is drawn, and the page's program shows what is chosen."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from chromium import Browser

from mmaproof.api.instructions import layout
from mmaproof.reports.layout_drawing import picture

SVG = "{http://www.w3.org/2000/svg}"
CASES = [
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a"),
    (
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "scale_a",
    ),
    ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "metadata"),
    ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "addresses"),
    ("xvi8ger4pp", "acc"),
    ("v_mfma_f32_4x4x4f16", "b"),
    ("%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>", "a"),
]
NAMES = [f"{instruction.split()[0][:30]}-{operand}" for instruction, operand in CASES]


@pytest.mark.parametrize(("instruction", "operand"), CASES, ids=NAMES)
def test_a_picture_has_a_square_for_each_element_in_the_colour_of_its_owner(
    instruction: str, operand: str
) -> None:
    answer = layout(instruction, operand)
    root = ElementTree.fromstring(answer._repr_svg_())
    _, _, width, height = map(int, root.attrib["viewBox"].split())
    squares = [(g.find(f"{SVG}title"), g.find(f"{SVG}rect")) for g in root.iter(f"{SVG}g")]
    table = answer.table
    drawn = [(title.text, rect) for title, rect in squares if ": " in title.text]
    places = {tuple(row[axis.name] for axis in table.axes) for row in answer.rows()}
    assert len(drawn) == len(places)
    for text, rect in drawn:
        owner = re.search(rf"\b{table.owners.name} (\d+)", text.partition(": ")[2])
        assert owner is not None and rect.attrib["class"] == f"o{owner[1]}"
    for _, rect in squares:
        x, y, across, down = (int(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + across <= width and y + down <= height
    corners = sorted((int(rect.attrib["x"]), int(rect.attrib["y"])) for _, rect in squares)
    assert all(one != other for one, other in pairwise(corners))


def test_the_lanes_of_a_warp_are_told_apart() -> None:
    colours = picture(layout(*CASES[0]).table).colours
    assert len({colour.light for colour in colours}) == len({colour.dark for colour in colours}) == 32


@pytest.mark.parametrize(("instruction", "operand"), CASES, ids=NAMES)
def test_a_page_has_every_operand_and_needs_nothing_else(instruction: str, operand: str) -> None:
    page = layout(instruction, operand).page()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data[0]["name"] == operand and len({each["name"] for each in data}) == len(data)
    for each in data:
        rows = layout(instruction, each["name"]).rows()
        assert each["elements"] == [list(row.values()) for row in rows]
    assert not re.search(r"https?://|src=|url\(", page)


def test_the_page_shows_what_its_address_chooses(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(layout(*CASES[0]).page(), encoding="utf-8")
    browser.open(page, "show=a,c&view=elements&holder=T5&element=a,1,2")
    shown = browser.dom
    cells = re.findall(r'<td[^>]*class="o(\d+)([^"]*)"[^>]*data-key="(\w+) ', shown)
    assert {operand for _, _, operand in cells} == {"a", "c"}
    assert {lane for lane, more, _ in cells if "dim" not in more} == {"5"}
    assert [(lane, operand) for lane, more, operand in cells if "chosen" in more] == [("5", "a")]
    assert "a(1, 2) is held by T5" in shown and "T5 holds of b: (2, 1)" in shown
