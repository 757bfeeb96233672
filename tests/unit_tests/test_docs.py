"""What the documentation says is run: its code, its output, its tables, its links.

In README and every page of docs, the Python blocks of a page are one program. A text block right
after a Python or shell block is what that block prints. `<!-- not run: reason -->` before a block
keeps it from being run; it must still compile.

    LCA_UPDATE_DOCS=1 python -m pytest tests/unit_tests/test_docs.py

writes the outputs anew, to be looked at before they are committed.
"""

import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import langchain_custom_agents
from langchain_custom_agents.cli.commands import commands

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("README*.md")),
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
UPDATE = bool(os.environ.get("LCA_UPDATE_DOCS"))

_FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*?) -->\n+)?"
    r"(?P<fence>```+)(?P<lang>\w*)[^\n]*\n(?P<code>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """A fenced block of a page."""

    language: str
    code: str
    note: str
    number: int
    line: int
    follows: bool
    span: tuple[int, int]


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text, found, end = page.read_text(encoding="utf-8"), [], 0
    for match in _FENCE.finditer(text):
        found.append(
            Block(
                language=match["lang"],
                code=match["code"],
                note=match["note"] or "",
                number=len(found),
                line=text.count("\n", 0, match.start("fence")) + 1,
                follows=bool(found) and not text[end : match.start()].strip(),
                span=match.span("code"),
            )
        )
        end = match.end()
    return found


def outputs(page: Path) -> Iterator[tuple[Block, Block | None]]:
    """Return each block with the text block after it that says what it prints."""
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None], strict=False):
        says = after is not None and after.language == "text" and after.follows
        yield block, after if says else None


def name_of(page: Path) -> str:
    """Name a page for pytest."""
    return page.relative_to(ROOT).as_posix()


def compare(page: Path, expected: Block, printed: str) -> None:
    """Compare what was printed with what the page says, or write it there."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    actual = "\n".join(lines) + "\n"
    if UPDATE and actual != expected.code:
        text, (start, end) = page.read_text(encoding="utf-8"), blocks(page)[expected.number].span
        page.write_text(text[:start] + actual + text[end:], encoding="utf-8")
        return

    assert actual == expected.code, f"{name_of(page)}:{expected.line} says otherwise"


def code_of(block: Block) -> str | None:
    """Return the Python in a block: a program, or what a diff leads to."""
    if block.language == "diff":
        kept = [line for line in block.code.splitlines() if not line.startswith("-")]
        return "\n".join(line[1:] for line in kept)
    return block.code if block.language == "python" else None


@pytest.fixture
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two documents in it, to run a page in, and keys that are none."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "Hiroko.md").write_text("# Hiroko\n\nHiroko's father is Takuma.\n")
    (tmp_path / "docs" / "Takuma.md").write_text("# Takuma\n\nTakuma is a teacher.\n")
    monkeypatch.chdir(tmp_path)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "no-key")
    return tmp_path


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_code_of_a_page_runs(page: Path) -> None:
    """The Python blocks of a page run one after the other and print what the page says."""
    names: dict[str, Any] = {"__name__": "page"}
    for block, output in outputs(page):
        code = code_of(block)
        if code is None or block.note.startswith("not run:"):
            continue
        printed = io.StringIO()
        # Blank lines before it, so that a traceback shows the line in the page.
        program = compile("\n" * block.line + code, name_of(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        if output is not None:
            compare(page, output, printed.getvalue())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_that_is_not_run_says_why(page: Path) -> None:
    """A block that is not run gives a reason and is Python all the same."""
    for block in blocks(page):
        if block.note.startswith("not run:"):
            assert len(block.note) > len("not run: it")
            if block.language == "python":
                ast.parse(block.code)


@cache
def lca(arguments: str) -> str:
    """Return what a command of ours prints where nobody watches."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        done = CliRunner().invoke(commands, shlex.split(arguments))
    finally:
        os.chdir(before)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_output_of_a_command_is_real(page: Path) -> None:
    """What a page shows under a shell block that ends in an `lca` command is what it prints."""
    for block, output in outputs(page):
        if block.language not in ("bash", "console", "sh") or output is None:
            continue
        command = re.search(r"\blca ([^\n|&;]+)$", block.code.strip())

        assert command is not None, f"{name_of(page)}:{block.line} shows output of no lca command"
        compare(page, output, lca(command[1]))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file of the repository."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    broken = [link for link in links if not (page.parent / link).exists()]

    assert broken == []


def test_every_page_is_in_the_navigation() -> None:
    """No page of docs is left out of the site's navigation, and none in it is missing."""
    listed = re.findall(r"^ +- .+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in PAGES if "docs" in page.parts]

    assert sorted(listed) == sorted(pages)


def public_names() -> list[str]:
    """Return where each public name of the package and of its parts lives."""
    parts = [langchain_custom_agents]
    for name in ("dialects", "models", "offline", "records", "testing"):
        parts.append(importlib.import_module(f"langchain_custom_agents.{name}"))
    found = []
    for part in parts:
        for name in getattr(part, "__all__", ()):
            value = getattr(part, name)
            home = getattr(value, "__module__", None)
            if home is None or not str(home).startswith("langchain_custom_agents"):
                home = part.__name__
            found.append(f"{home}.{name}")
    return sorted({name for name in found if not name.endswith(("__version__", ".AgentType"))})


@pytest.mark.parametrize("name", public_names())
def test_the_reference_has_every_public_name(name: str) -> None:
    """What can be imported from the package or a part of it stands in the reference."""
    page = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    module = name.rpartition(".")[0]

    assert any(entry in (name, module, module.rpartition(".")[0]) for entry in listed)


# The migration pages.

HEADS = (["Then", "Today", "Now"], ["以前", "いま", "これから"])


def rows(page: Path) -> list[tuple[str, str, str]]:
    """Return the rows of the tables whose head is Then, Today, Now, in one of the languages."""
    found, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells in HEADS:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(cells[0]) <= set("-: "):
            found.append((cells[0].strip("`"), cells[1].strip("`"), cells[2].strip("`")))
    return found


MIGRATION = [ROOT / "docs/migration.md", ROOT / "docs/ja/migration.md"]
LINES = [
    pytest.param(page, *row, id=f"{page.parent.name}-{row[0]}")
    for page in MIGRATION
    for row in rows(page)
]


def migrating(page: Path) -> dict[str, Any]:
    """Return the names that the first Python block of a migration page makes."""
    names: dict[str, Any] = {"__name__": "page"}
    exec(next(block.code for block in blocks(page) if block.language == "python"), names)
    return names


def run_line(line: str, names: dict[str, Any]) -> None:
    """Run one line; what it prints is nobody's concern here."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(line, names)


@pytest.mark.usefixtures("somewhere")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("page", "then", "today", "now"), LINES)
def test_a_row_of_a_migration_page_is_true(page: Path, then: str, today: str, now: str) -> None:
    """The old line does today what the middle says, and the new line runs."""
    if today in ("works", "動く"):
        run_line(then, migrating(page))
    else:
        with pytest.raises(Exception) as failure:
            run_line(then, migrating(page))
        assert failure.type.__name__ == today, str(failure.value)

    run_line(now, migrating(page))


@pytest.mark.parametrize("page", MIGRATION, ids=name_of)
def test_a_migration_page_has_its_rows(page: Path) -> None:
    """Every row that begins with a line of code is found, so that it is tested."""
    written = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]

    assert len(rows(page)) == len(written) > 40


# Which agent when.


def prompt_tokens(kind: Any, row: Any) -> str:
    """Return the tokens of an agent's first prompt, and what a step adds to them.

    Every type is asked the same question and takes the same step, with tools of the
    same description.
    """
    from langchain_core.tools import Tool

    from langchain_custom_agents import initialize_agent
    from langchain_custom_agents.records import Stepper
    from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

    names = sorted(row.tools or {"Search"}, reverse=True)
    tools = [Tool(name, str, "Finds what is known about a person.") for name in names]
    chats = row.agent.__name__ != "ReActAgent"
    model = ScriptedChatModel([""]) if chats else ScriptedLLM([""])
    executor = initialize_agent(tools, model, agent=kind)
    stepper = Stepper(executor, question="What is hiroko's father's occupation?")
    first = stepper.preview().tokens
    thought = "" if row.dialect is None else "I need to know who the father is."
    stepper.feed(names[0], "hiroko's father", "hiroko's father is takuma", thought)
    return f"{first} + {stepper.preview().tokens - first}"


ENGLISH_GUIDE = {
    "head": "Type | Class | Dialect | Model | Several inputs | Several calls | History "
    "| Prompt tokens | Use",
    "words": {
        True: "yes",
        False: "no",
        None: "the provider's",
        "text or chat": "text or chat",
        "tool calling": "tool calling",
    },
    "use": True,
}
JAPANESE_GUIDE = {
    "head": "型 | クラス | 書き方 | モデル | 複数の引数 | 並列の呼び出し | 会話 "
    "| プロンプトのトークン数",
    "words": {
        True: "はい",
        False: "いいえ",
        None: "提供元",
        "text or chat": "テキスト・チャット",
        "tool calling": "ツール呼び出し",
    },
    "use": False,
}


def agents_table(guide: dict[str, Any]) -> str:
    """Write the table of a guide from the table in the code."""
    from langchain_custom_agents.agents.types import AGENTS

    words = guide["words"]
    lines = [f"| {guide['head']} |", "|---" * (guide["head"].count("|") + 1) + "|"]
    for kind, row in AGENTS.items():
        dialect = words[None] if row.dialect is None else f"`{type(row.dialect).__name__}`"
        can = [words[able] for able in (row.several_inputs, row.parallel_calls, row.history)]
        about = [f"`{kind.value}`", f"`{row.agent.__name__}`", dialect, words[row.model]]
        cells = [*about, *can, prompt_tokens(kind, row)]
        if guide["use"]:
            names = ", ".join(f"`{name}`" for name in sorted(row.tools or (), reverse=True))
            cells.append(f"{row.use} Tools: {names}." if names else row.use)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("page", "guide"),
    [("docs/agents.md", ENGLISH_GUIDE), ("docs/ja/agents.md", JAPANESE_GUIDE)],
    ids=["en", "ja"],
)
def test_which_agent_when_is_in_step(page: str, guide: dict[str, Any]) -> None:
    """The table of the agents page is the table in the code, with the tokens as measured."""
    file = ROOT / page
    text = file.read_text(encoding="utf-8")
    table = "\n".join(re.findall(r"^\|.*\|$", text.partition("<!-- agents -->")[2], re.MULTILINE))
    if UPDATE and table != agents_table(guide):
        file.write_text(text.replace(table, agents_table(guide)), encoding="utf-8")
        return

    assert table == agents_table(guide)


# Doctests.


def modules() -> list[str]:
    """Return the names of the package's modules."""
    package = langchain_custom_agents
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [module.name for module in found if not module.name.endswith("__main__")]
    return [package.__name__, *names]


@pytest.mark.parametrize("module", modules())
def test_the_examples_of_a_module_run(module: str, tmp_path: Path, monkeypatch: Any) -> None:
    """The examples in a module's docstrings give what they say."""
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)

    assert result.failed == 0
