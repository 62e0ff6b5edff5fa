"""A headless Chromium, driven over a pipe by the DevTools protocol: no further package is needed.

What it loads, logs and shows can be asked for: network requests, errors on the console, values of expressions, keys
that are pressed, pictures of the page.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
VARIABLE = "OMNIRANK_BROWSER"
_SECONDS = 60.0


def find_browser() -> str | None:
    """Return the path of a Chromium, or None; the variable OMNIRANK_BROWSER may name one."""
    named = os.environ.get(VARIABLE)
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """A browser with one page."""

    def __init__(self, path: str, dark: bool = False, width: int = 1300, height: int = 900) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._number = 0
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
            f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}", "--hide-scrollbars",
        ]  # fmt: skip
        # the browser reads descriptor 3 and writes descriptor 4
        started = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", started, path, *options, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._session: str | None = None
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._loaded = False
        self._call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + _SECONDS
        while not self._loaded and time.monotonic() < end:
            self._read()
        assert self._loaded, "the page did not load"

    def value(self, expression: str) -> Any:
        """Return the value of an expression on the page."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key, where the focus is."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27}
        more = {"windowsVirtualKeyCode": codes[key], "code": key} if key in codes else {}
        written = {"Enter": "\r"}.get(key, text)
        down = {"type": "keyDown", "key": key, **more} | ({"text": written} if written else {})
        self._call("Input.dispatchKeyEvent", **down)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def write(self, text: str) -> None:
        """Write a text, key by key."""
        for letter in text:
            self.press(letter, letter)

    def picture(self, path: Path, whole: bool = True) -> None:
        """Write a picture of the page (PNG)."""
        options: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self._call("Page.getLayoutMetrics")["cssContentSize"]
            height = min(size["height"], 16000)
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1}
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", **options)["data"]))

    # -- the protocol -----------------------------------------------------------------------------------

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        """The next message; what events tell is kept."""
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, about: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.errors.append(json.dumps(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
