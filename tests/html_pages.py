"""HTML pages as tests read them."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects the text of a page; checks that its tags are balanced and that it loads nothing."""

    void = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []
        assert not re.search(r"@import|url\(", self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        addresses = [value for name, value in attrs if name in ("src", "href")]
        assert all(address is not None and address.startswith("#") for address in addresses)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
