"""The static reference: every row has a page, every link leads somewhere inside."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape
from pathlib import Path, PurePosixPath

import pytest
from chromium import WIDTHS, Browser
from command_line import mmaproof

from mmaproof.reports import site
from mmaproof.reports.explanation import explain
from mmaproof.spec.instruction_set import NAMES, instruction_set

SHOWN = ("pto", "mfma")


@cache
def written() -> dict[str, str]:
    return {page.path: page.text for page in site.pages(SHOWN)}


@pytest.mark.parametrize("isa", NAMES)
def test_every_instruction_belongs_to_one_row_of_the_table(isa: str) -> None:
    found = site.families(instruction_set(isa))
    spelled = [spelling for family in found for spelling in family.spellings]
    assert sorted(spelled) == sorted(
        instruction["mnemonic"] for instruction in instruction_set(isa).instructions()
    )
    assert (
        sum(not family.spellings for family in found) <= 1
    )  # a name that gfx90a gave to another instruction
    assert [family.row for family in found] == instruction_set(isa).tables["instructions"]()
    assert len({family.path for family in found}) == len(found)


def test_links_lead_to_pages_and_places_of_the_site() -> None:
    pages = written()
    for path, text in pages.items():
        if not path.endswith(".html") or path.endswith(".layout.html"):
            continue
        for link in map(unescape, re.findall(r'(?:href|src)="([^"]*)"', text)):
            target, _, place = link.partition("#")
            assert "://" not in link
            to = PurePosixPath(path).parent / target if target else PurePosixPath(path)
            resolved = str(to).replace(f"{PurePosixPath(path).parent}/../", "")
            assert resolved in pages, (path, link)
            assert not place or f'id="{place}"' in pages[resolved], (path, link)


def test_what_is_searched_is_there() -> None:
    pages = written()
    entries = json.loads(pages["search.js"].removeprefix("const entries = ").rstrip(";\n"))
    for entry in entries:
        path, _, place = entry["path"].partition("#")
        assert path in pages and (not place or f'id="{place}"' in pages[path])
    rules = {row["rule"] for isa in SHOWN for row in instruction_set(isa).tables["rules"]()}
    assert rules <= {entry["title"].partition("/")[2] for entry in entries}


@pytest.mark.parametrize("isa", SHOWN)
def test_the_page_of_a_family_says_what_explain_says(isa: str) -> None:
    for family in site.families(instruction_set(isa))[::5]:
        assert family.spellings
        text = unescape(written()[family.path])
        for heading, lines in explain(family.spellings[0]).sections:
            assert heading == "Table row" or all(line in text for line in lines)
        read = family.isa.read(family.spellings[0])
        assert (family.layout_path in written()) == bool(read.laid_out())


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "pages", lambda: [site.Page("a/b.html", "text")])
    result = mmaproof("site", tmp_path / "new")
    assert (result.status, (tmp_path / "new" / "a" / "b.html").read_text()) == (0, "text")
    (tmp_path / "file").write_text("")
    assert mmaproof("site", tmp_path / "file").wrong_use


def test_the_first_page_of_something_else_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, earlier = tmp_path / "index.html", written()["index.html"]
    monkeypatch.setattr(site, "pages", lambda: [site.Page("index.html", "new")])
    first.write_text("<h1>Mine</h1>")
    result = mmaproof("site", tmp_path)
    assert result.wrong_use and str(first) in result.err and first.read_text() == "<h1>Mine</h1>"
    first.write_text(earlier)
    assert (mmaproof("site", tmp_path).status, first.read_text()) == (0, "new")


def test_a_page_of_the_site_fits_its_window_and_finds_others(browser: Browser, tmp_path: Path) -> None:
    opened = "mfma/v_mfma_f32_4x4x4_16b_f16"
    needed = (site.STYLE, site.INDEX, f"{opened}.html", f"{opened}.layout.html")
    for path in needed:
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(written()[path], encoding="utf-8")
    for width in WIDTHS:
        browser.open(tmp_path / f"{opened}.html", width=width)
        assert browser.overflow() <= 0
        assert min(browser.contrasts().values()) >= 4
    browser.evaluate("box.value = '32x32x8'; box.dispatchEvent(new Event('input'))")
    found = "[...document.querySelectorAll('#found a')].map(each => each.getAttribute('href'))"
    paths = browser.evaluate(found)
    assert paths and "32x32x8" in paths[0]
