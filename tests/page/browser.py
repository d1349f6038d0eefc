"""Chromium through the DevTools protocol over a pair of pipes, which needs no package."""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 60.0
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """One process. `pages` are opened one after the other."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """One command and its answer; events that come meanwhile are kept."""
        self._last += 1
        body: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if session is not None:
            body["sessionId"] = session
        os.write(self._write, json.dumps(body).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._last:
                assert "error" not in message, message
                return dict(message["result"])
            self.events.append(message)

    def wait_for(self, event: str) -> None:
        """Until an event of that name has come."""
        while not any(one.get("method") == event for one in self.events):
            self.events.append(self._message())

    def _message(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "Chromium does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "Chromium ended"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))


class Page:
    """One page, loaded. `width` and `height` are in CSS pixels."""

    def __init__(
        self, browser: Browser, path: Path, width: int = 1000, height: int = 900, scheme: str = "light"
    ) -> None:
        self.browser = browser
        browser.events.clear()
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self._session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self.emulate("screen", scheme)
        self.send("Page.navigate", url=path.as_uri())
        browser.wait_for("Page.loadEventFired")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.send(method, self._session, **params)

    def resize(self, width: int, height: int = 900) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def emulate(self, media: str, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)

    def without_script(self) -> None:
        """Load again with scripts turned off."""
        self.send("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.events.clear()
        self.send("Page.reload")
        self.browser.wait_for("Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """What an expression gives; a promise is awaited."""
        told = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def key(self, key: str, text: str = "") -> None:
        """Press one key."""
        code = {"Backspace": 8, "Tab": 9, "Enter": 13}[key]
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self) -> bytes:
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def complaints(self) -> list[str]:
        """Errors and anything that was written to the console."""
        names = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        self.value("1")
        return [json.dumps(one) for one in self.browser.events if one.get("method") in names]

    def requests(self) -> list[str]:
        """Every address that was asked for."""
        self.value("1")
        sent = (one for one in self.browser.events if one.get("method") == "Network.requestWillBeSent")
        return [one["params"]["request"]["url"] for one in sent]

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self._target)


@contextmanager
def started(program: str, profile: Path) -> Iterator[Browser]:
    """A browser that ends with the block."""
    ours, theirs = os.pipe(), os.pipe()
    command = f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}'
    environment = {**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)}
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", program, *ARGUMENTS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(ours[0], theirs[1]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    os.close(ours[0])
    os.close(theirs[1])
    try:
        yield Browser(ours[1], theirs[0])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours[1])
        os.close(theirs[0])
