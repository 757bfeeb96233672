"""The notebooks run, and print what is stored in them.

The cells are run here without a kernel, so that every Python and every user can. CI runs them in a
real one, too.
"""

import ast
import contextlib
import io
import json
import pprint
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(ROOT.rglob("*.ipynb"))


def stored(cell: dict[str, Any]) -> str:
    """Return the text that is stored as the output of a cell."""
    parts = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        parts.append("".join(text))
    return "\n".join(part.rstrip("\n") for part in parts)


def run(code: str, names: dict[str, Any]) -> str:
    """Run a cell; return what it prints and the value of its last line."""
    tree, value = ast.parse(code), None
    last = tree.body[-1] if tree.body else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            tree.body.pop()
            exec(compile(tree, "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(tree, "cell", "exec"), names)
    shown = [] if value is None else [pprint.pformat(value, width=79, compact=False)]
    return "\n".join(part for part in [printed.getvalue().rstrip("\n"), *shown] if part)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_notebook_prints_what_it_says(notebook: Path) -> None:
    """The cells of a notebook run one after the other, and give the outputs stored in it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code":
            continue
        said = run("".join(cell["source"]), names)

        assert said.split() == stored(cell).split(), f"cell {number}"


def test_the_notebooks_are_there() -> None:
    """The lessons are there, numbered without a gap; the first three in Japanese, too."""
    lessons = [path.name for path in NOTEBOOKS if path.parent == ROOT]
    numbers = [int(re.match(r"\d+", name)[0]) for name in lessons]
    japanese = [path.name for path in NOTEBOOKS if path.parent == ROOT / "ja"]

    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 6
    assert japanese == lessons[:3]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_notebooks_carry_nothing_of_a_machine(notebook: Path) -> None:
    """No notebook holds an error, a path or a time of the machine it was run on."""
    data = json.loads(notebook.read_text(encoding="utf-8"))
    kinds = {out["output_type"] for cell in data["cells"] for out in cell.get("outputs", ())}

    assert kinds <= {"stream", "execute_result", "display_data"}
    assert set(data["metadata"]) == {"kernelspec", "language_info"}
    assert all("execution" not in cell["metadata"] for cell in data["cells"])
