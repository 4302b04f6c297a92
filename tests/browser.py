"""A real Chromium, one for all tests of a session, driven over the Chrome DevTools Protocol.

Each page has a browser context of its own, so no test sees another one's storage.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import subprocess
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from websockets.asyncio.client import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from websockets.asyncio.client import ClientConnection

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
SECONDS = 60
DESK = (1280, 800)
PHONE = (390, 844)
KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "ArrowLeft": 37, "ArrowRight": 39,
    "1": 49, "2": 50, "3": 51,
}  # fmt: skip
_LISTENING = "DevTools listening on "


@contextmanager
def running_chromium(folder: Path) -> Iterator[str]:
    """Chromium in a process of its own, with its profile in the folder; gives the address of its DevTools."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = next(line for line in process.stderr if line.startswith(_LISTENING))
            # What it says from now on is read by nobody else, and would stop it once the pipe is full.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield said.removeprefix(_LISTENING).strip()
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the running Chromium is driven; skips if none is installed."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with running_chromium(tmp_path_factory.mktemp("chromium")) as address:
        yield address


class PageError(Exception):
    """What DevTools refuse, or what a script threw."""


@dataclass
class Page:
    """A tab.

    Attributes:
        faults: What the browser has complained of: exceptions, and the console's errors with breaches of the
            page's security policy among them.
    """

    connection: ClientConnection
    session: str = ""
    faults: list[str] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=itertools.count)
    _answers: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    _loaded: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of DevTools."""
        number = next(self._ids)
        self._answers[number] = future = asyncio.get_running_loop().create_future()
        where = {"sessionId": self.session} if self.session else {}
        await self.connection.send(json.dumps({"id": number, "method": method, "params": params, **where}))
        async with asyncio.timeout(SECONDS):
            answer = await future
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    async def listen(self) -> None:
        """Take in what the browser says, as long as it does."""
        async for text in self.connection:
            message = json.loads(text)
            params = message.get("params", {})
            if "id" in message:
                self._answers.pop(message["id"]).set_result(message)
            elif message["method"] == "Page.loadEventFired":
                self._loaded.set()
            elif message["method"] == "Runtime.exceptionThrown":
                self.faults.append(params["exceptionDetails"].get("exception", {}).get("description", "?"))
            elif message["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                self.faults.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    async def beforehand(self, script: str) -> None:
        """Run a script in every page before its own scripts."""
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def offline(self, offline: bool) -> None:
        """Take the network away, or give it back."""
        conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        await self.call("Network.emulateNetworkConditions", offline=offline, **conditions)

    async def go(self, url: str) -> None:
        """Open an address and wait until the page has loaded."""
        self._loaded.clear()
        await self.call("Page.navigate", url=url)
        async with asyncio.timeout(SECONDS):
            await self._loaded.wait()

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited.

        Raises:
            PageError: it throws.
        """
        answer = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Wait until an expression is true in the page; gives its value."""
        look = f"() => {{ try {{ return ({expression}); }} catch {{ return false; }} }}"
        again = "const again = () => { const found = look(); found ? done(found) : setTimeout(again, 20); };"
        return await self.evaluate(f"new Promise((done) => {{ const look = {look}; {again} again(); }})")

    async def text(self, selector: str) -> str:
        """The text that an element shows."""
        shown: str = await self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText.trim()")
        return shown

    async def texts(self, selector: str) -> list[str]:
        """The texts that all such elements show, in the page's order."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        shown: list[str] = await self.evaluate(f"{found}.map((one) => one.innerText.trim())")
        return shown

    async def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse."""
        place = (
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        x, y = await self.evaluate(place)
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def follow(self, selector: str) -> None:
        """Click a link and wait until the page that it leads to has loaded."""
        self._loaded.clear()
        await self.click(selector)
        async with asyncio.timeout(SECONDS):
            await self._loaded.wait()

    async def drag(self, selector: str, x: float, y: float) -> None:
        """Drag the middle of an element so many pixels with the mouse."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        left, top = await self.evaluate(
            f"(() => {{ const box = {box}; return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        )
        steps = [("mousePressed", 0.0), ("mouseMoved", 0.5), ("mouseMoved", 1.0), ("mouseReleased", 1.0)]
        for kind, part in steps:
            await self.call(
                "Input.dispatchMouseEvent", type=kind, x=left + part * x, y=top + part * y, button="left",
                buttons=0 if kind == "mouseReleased" else 1, clickCount=1,
            )  # fmt: skip

    async def begin_with(self, script: str) -> None:
        """Run a script in every page that is opened from now on, before its own."""
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def network(self, *, there: bool) -> None:
        """Take the network away, or give it back."""
        await self.call("Network.enable")
        await self.call(
            "Network.emulateNetworkConditions", offline=not there, latency=0, downloadThroughput=-1,
            uploadThroughput=-1,
        )  # fmt: skip

    async def press(self, key: str) -> None:
        """Press a key of `KEYS`."""
        text = {"Enter": {"text": "\r"}, "Space": {"text": " "}}.get(key, {})
        named: dict[str, Any] = {"key": " " if key == "Space" else key, "code": key}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            await self.call(
                "Input.dispatchKeyEvent", type=kind, windowsVirtualKeyCode=KEYS[key], **named, **more
            )

    async def type(self, text: str) -> None:
        """Put text in where the focus is."""
        await self.call("Input.insertText", text=text)

    async def look(self, size: tuple[int, int] = DESK, *, dark: bool = False, still: bool = False) -> None:
        """Give the window a size, and the reader's preferences."""
        width, height = size
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=size == PHONE,
        )  # fmt: skip
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def without_scripts(self) -> None:
        """Run no script from now on."""
        await self.call("Emulation.setScriptExecutionDisabled", value=True)


@asynccontextmanager
async def page(address: str) -> AsyncIterator[Page]:
    """A new tab in the Chromium at this address of DevTools, with storage of its own."""
    async with connect(address, max_size=None, open_timeout=SECONDS) as connection:
        tab = Page(connection)
        listening = asyncio.create_task(tab.listen())
        try:
            context = (await tab.call("Target.createBrowserContext"))["browserContextId"]
            target = await tab.call("Target.createTarget", url="about:blank", browserContextId=context)
            attached = await tab.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
            tab.session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                await tab.call(f"{domain}.enable")
            yield tab
            tab.session = ""
            await tab.call("Target.disposeBrowserContext", browserContextId=context)
        finally:
            listening.cancel()
