"""A real browser, without a window and without a way out."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium, the one that the system has.

    Playwright runs an event loop in this thread while it is open, so it is closed with its module:
    asynchronous tests could not run beside it.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"none of these is installed: {', '.join(NAMES)}")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page; at the end it must have been silent, and have asked nobody for anything."""
    noises: list[str] = []
    contexts: list[Any] = []

    def opened(page: str, width: int = 1440, scheme: str = "light") -> Any:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(page, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: noises.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: noises.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: noises.append(f"dialog: {dialog.message}"))
        tab.on(
            "request",
            lambda request: (
                None
                if request.url == file.as_uri() or request.url.startswith("data:")
                else noises.append(f"request: {request.url}")
            ),
        )
        tab.goto(file.as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert noises == []
