"""Pages as a browser shows them, after their programs have run: what they contain, and pictures of them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

PROGRAM = shutil.which("chromium")

WIDTHS = (390, 1400)
"""A telephone and a wide window, in pixels."""

_LIMIT = 120.0
"""Seconds for an answer: a loaded machine starts a browser slowly."""

_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class BrowserError(Exception):
    """The browser, or a program of a page, says that something failed."""


class Browser:
    """A browser without a window, told by its debugging protocol what to do: JSON texts that end with NUL."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self._to = os.pipe()
        self._from, answers = os.pipe()
        options = [*_QUIET, f"--user-data-dir={self._profile.name}", "about:blank"]
        # It reads from descriptor 3 and writes to descriptor 4.
        command = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{answers}', "chromium", PROGRAM, *options]
        self._process = subprocess.Popen(
            command, pass_fds=(theirs, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs)
        os.close(answers)
        self._unread = b""
        self._asked = 0
        (first,) = [each for each in self.ask("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        attached = self.ask("Target.attachToTarget", targetId=first["targetId"], flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self.ask("Page.enable", **self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrowserError, OSError):
            self.ask("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def ask(self, method: str, sessionId: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return what the browser answers to a call; `sessionId` says of which page it is."""
        self._asked += 1
        call = {"id": self._asked, "method": method, "params": parameters}
        if sessionId is not None:
            call["sessionId"] = sessionId
        os.write(self._to, json.dumps(call).encode() + b"\0")
        until = time.monotonic() + _LIMIT
        while True:
            said = self._next(until)
            if said.get("id") == self._asked:
                break
        if "error" in said:
            raise BrowserError(f"{method}: {said['error']['message']}")
        answer: dict[str, Any] = said["result"]
        return answer

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._from, 1 << 20) if ready else b""
            if not more:
                raise BrowserError("the browser ended" if ready else "the browser did not answer in time")
            self._unread += more
        text, _, self._unread = self._unread.partition(b"\0")
        said: dict[str, Any] = json.loads(text)
        return said

    def open(self, page: Path, fragment: str = "", *, width: int = 1400, dark: bool = False) -> None:
        """Show a page, at a fragment of its address, in a window of `width` pixels, light or dark."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics, **self._session)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme], **self._session)
        self.ask("Page.navigate", url="about:blank", **self._session)  # a new fragment alone loads nothing
        answer = self.ask("Page.navigate", url=f"{page.as_uri()}#{fragment}", **self._session)
        if "errorText" in answer:
            raise BrowserError(f"{page}: {answer['errorText']}")
        until = time.monotonic() + _LIMIT
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            if time.monotonic() > until:
                raise BrowserError(f"{page} was not loaded in time")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript on the page that is shown."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, **self._session)
        if "exceptionDetails" in answer:
            raise BrowserError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            pressed = {"key": key, "code": key, "windowsVirtualKeyCode": _CODES.get(key, 0), "text": text}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **pressed, **self._session)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **self._session)

    def picture(self) -> bytes:
        """Return the whole page that is shown as a PNG."""
        shown = self.ask("Page.captureScreenshot", captureBeyondViewport=True, **self._session)
        return base64.b64decode(shown["data"])

    @property
    def dom(self) -> str:
        """The elements of the page that is shown."""
        text: str = self.evaluate("document.documentElement.outerHTML")
        return text

    def overflow(self) -> int:
        """Return by how many pixels the page that is shown is wider than its window."""
        pixels: int = self.evaluate("document.documentElement.scrollWidth - innerWidth")
        return pixels

    def contrasts(self) -> dict[str, float]:
        """Return the texts that the page shows, and how well each can be read: WCAG's ratio, from 1 to 21."""
        found: dict[str, float] = self.evaluate(_CONTRASTS)
        return found


_CONTRASTS = """
(() => {
  const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const channels = colour => {
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      known.set(colour, [...pen.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const themed = getComputedStyle(document.documentElement).colorScheme.includes("dark");
  const behind = node => {
    const square = node.previousElementSibling;
    if (square && square.tagName === "rect") return channels(getComputedStyle(square).fill);
    for (let each = node; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] > 200) return colour;
    }
    return dark && themed ? [18, 18, 18] : [255, 255, 255];
  };
  const found = {};
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || !node.getClientRects().length || /^(script|style|title|desc)$/i.test(node.tagName)) continue;
    const style = getComputedStyle(node), svg = node.namespaceURI.endsWith("svg");
    const levels = [light(channels(svg ? style.fill : style.color)), light(behind(node))];
    const ratio = (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
    found[text] = Math.min(ratio, found[text] ?? 21);
  }
  return found;
})()
"""
"""Opacity is not looked at: what is dimmed is what was not chosen."""

_CODES = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
"""The numbers of keys; those of letters are not needed."""
