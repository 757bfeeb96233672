"""The page of a run, in a real browser."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langchain_custom_agents.records import RunRecord
from tests.unit_tests.records.runs import (
    HOSTILE,
    failed_run,
    hostile_run,
    japanese_run,
    long_run,
)

pytestmark = pytest.mark.integration

RUNS = {"long": long_run, "failed": failed_run, "japanese": japanese_run, "hostile": hostile_run}
WIDTHS = (360, 1440)
SCHEMES = ("light", "dark")

Look = Callable[..., Any]


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> tuple[str, RunRecord]:
    """A run, and what it is called."""
    return request.param, RUNS[request.param]()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_layout_holds(run: tuple[str, RunRecord], look: Look, width: int, scheme: str) -> None:
    """Nothing is wider than the window, on a phone and on a desk, with all steps open."""
    name, record = run
    tab = look(record.to_html(), width, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    wide = tab.evaluate(
        """[...document.querySelectorAll('body, body *')]
           .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
           .filter(part => !part.closest('.what, .result, .hidden'))
           .map(part => part.tagName + '.' + part.className)"""
    )
    if folder := os.environ.get("LCA_SCREENSHOTS"):
        tab.screenshot(path=Path(folder) / f"{name}-{scheme}-{width}.png", full_page=True)

    assert wide == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everything_can_be_read(look: Look, scheme: str) -> None:
    """Every text stands out from its ground by 4.5 to 1, as WCAG asks for, in both schemes."""
    tab = look(long_run().to_html(), 1440, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    faint = tab.evaluate(
        """() => {
          const parts = (color) => color.match(/[\\d.]+/g).map(Number);
          const light = (color) => {
            const [r, g, b] = parts(color).slice(0, 3).map(v => {
              v /= 255;
              return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = (part) => {
            for (; part; part = part.parentElement) {
              const color = getComputedStyle(part).backgroundColor;
              if (parts(color)[3] !== 0) return color;
            }
            return 'rgb(255, 255, 255)';
          };
          return [...document.querySelectorAll('.lca *')]
            .filter(part => [...part.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
            .filter(part => part.tagName !== 'SCRIPT' && part.tagName !== 'STYLE')
            .map(part => {
              const [a, b] = [light(getComputedStyle(part).color), light(ground(part))];
              return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), part.outerHTML];
            })
            .filter(([ratio]) => ratio < 4.5)
            .map(([ratio, html]) => ratio.toFixed(2) + ' ' + html.slice(0, 80));
        }"""
    )

    assert faint == []


def test_the_schemes_differ(look: Look) -> None:
    """Somebody who prefers dark pages gets a dark one."""
    page = long_run().to_html()
    ground = "getComputedStyle(document.body).backgroundColor"

    assert look(page, scheme="light").evaluate(ground) == "rgb(255, 255, 255)"
    assert look(page, scheme="dark").evaluate(ground) == "rgb(20, 23, 27)"


def test_folding(look: Look) -> None:
    """Steps fold one by one by mouse, and all together by the button."""
    tab = look(long_run().to_html())
    opened = "document.querySelectorAll('details.step[open]').length"

    assert tab.evaluate(opened) == 0
    tab.click("#step-2 > summary")
    assert tab.evaluate(opened) == 1
    assert tab.is_visible("#step-2 del")
    tab.click("button")
    assert tab.evaluate(opened) == 12
    tab.click("button")
    assert tab.evaluate(opened) == 0


def test_search(look: Look) -> None:
    """Search counts what it finds, opens the step and goes from find to find; escape ends it."""
    tab = look(long_run().to_html())
    tab.fill("input", "NINE million")
    tab.wait_for_selector("mark.here")

    assert tab.inner_text("output") == "1 found"
    assert tab.inner_text("mark.here") == "nine million"
    assert tab.evaluate("document.querySelector('mark.here').closest('.step').id") == "step-2"
    assert tab.is_visible("mark.here")

    tab.fill("input", "Ikeda is a city")
    tab.wait_for_selector("mark >> nth=2", state="attached")
    first = tab.evaluate("document.querySelector('mark.here').closest('.step').id")
    tab.press("input", "Enter")
    tab.press("input", "Enter")
    last = tab.evaluate("document.querySelector('mark.here').closest('.step').id")

    assert (first, last) == ("step-11", "step-12")
    before = tab.evaluate("document.querySelector('#step-12 details').open")
    assert before, "a find inside of a folded prompt opens it"

    tab.press("input", "Escape")
    assert tab.locator("mark").count() == 0


def test_keyboard(look: Look) -> None:
    """Everything works by keyboard alone, and what has the focus is seen."""
    tab = look(long_run().to_html())
    here = "document.activeElement.closest('.step')?.id"
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    assert tab.evaluate(here) == "step-2"
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.keyboard.press("k")
    assert tab.evaluate(here) == "step-1"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.querySelector('#step-1').open")
    tab.keyboard.press("e")
    assert tab.evaluate("document.querySelectorAll('.step[open]').length") == 12
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.type") == "search"
    tab.keyboard.type("jek")
    assert tab.input_value("input") == "jek"


def test_the_bars_lead_to_their_steps(look: Look) -> None:
    """A bar of the growth of the prompt opens its step."""
    tab = look(long_run().to_html())
    tab.click(".bars a:nth-child(12)")

    assert tab.evaluate("document.querySelector('#step-12').open")
    heights = tab.evaluate(
        "[...document.querySelectorAll('.bars a')].map(b => "
        "[...b.children].reduce((sum, i) => sum + i.getBoundingClientRect().height, 0))"
    )
    assert heights[-1] == max(heights) > heights[0] * 2


def test_it_works_without_scripts(browser: Any, tmp_path: Path) -> None:
    """Without scripts the steps fold all the same, and nothing is offered that would not work."""
    file = long_run()
    (tmp_path / "page.html").write_text(file.to_html(), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    tab.click("#step-2 > summary")

    assert tab.is_visible("#step-2 del")
    assert not tab.is_visible("input")
    context.close()


def test_hostile_text_is_text(look: Look) -> None:
    """HTML, scripts, terminal codes and direction marks in any field are shown as text."""
    record = hostile_run()
    tab = look(record.to_html())
    tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    tab.fill("input", "onerror")
    tab.wait_for_selector("mark")
    shown = tab.inner_text("h1")

    assert "<script>document.title='taken'</script>" in shown
    assert "\\x1b[2J" in shown
    assert "\\u202egnp.exe\\u2066 \\u200f\\u200e\\u061c" in shown
    assert tab.title() != "taken"
    assert tab.locator("main img, main b, main script").count() == 0
    assert tab.locator("script").count() == 1
    assert not any(mark in tab.content() for mark in "\x1b\u202e\u2066\u200f\u200e\u061c")
    assert HOSTILE not in tab.content()


def test_a_notebook_shows_it_without_scripts(look: Look) -> None:
    """What a notebook shows has no script, and hostile text in it stays text."""
    part = hostile_run()._repr_html_()
    tab = look(f"<!DOCTYPE html><meta charset=utf-8><body>{part}")

    assert tab.locator("script, img, b").count() == 0
    assert tab.locator("details.step").count() == 2
