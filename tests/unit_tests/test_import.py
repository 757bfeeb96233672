"""What importing the package costs, and who may import what."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_custom_agents

PACKAGE = Path(langchain_custom_agents.__file__).parent
OPTIONAL = {
    "hypothesis",
    "langchain",
    "langchain_community",
    "langchain_openai",
    "pytest",
    "wikipedia",
}

SHOW_STOCK = {"cli/stock.py"}  # the demo runs LangChain's own agent beside ours


def loaded_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    script = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_the_package_loads_no_langchain_module() -> None:
    """`import langchain_custom_agents` loads nothing but itself and the standard library."""
    loaded = loaded_after("import langchain_custom_agents")
    own = {name for name in loaded if name.partition(".")[0] == "langchain_custom_agents"}
    others = {name.partition(".")[0] for name in loaded - own}

    assert own == {
        "langchain_custom_agents",
        "langchain_custom_agents._lazy",
        "langchain_custom_agents._version",
    }
    assert {name for name in others if name.startswith(("lang", "pydantic", "numpy"))} == set()


def test_only_agents_need_langchain_classic() -> None:
    """Everything outside `agents` works without langchain-classic being loaded."""
    modules = ("dialects", "tools.docstore", "vectorstores.faiss", "loop", "models.tool_calling")
    modules += ("models.classic",)
    loaded = loaded_after(
        "\n".join(f"import langchain_custom_agents.{module}" for module in modules)
    )

    assert {f"langchain_custom_agents.{module}" for module in modules} <= loaded
    assert {name for name in loaded if name.startswith("langchain_classic")} == set()


def imports(file: Path) -> list[tuple[str, bool]]:
    """Return what a module imports, and whether it does so as it is loaded."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            name = f"{'.' * node.level}{node.module or ''}"
            found.append((name, id(node) not in late))
    return found


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.relative_to(PACKAGE).as_posix()
)
def test_the_import_policy_holds(file: Path) -> None:
    """langchain-classic belongs to `agents`, optional packages into functions; no dots."""
    where = file.relative_to(PACKAGE)
    for name, at_load in imports(file):
        root = name.partition(".")[0]

        assert not name.startswith("."), "imports are absolute"
        if root == "langchain_classic":
            allowed = where.parts[0] == "agents" or where.as_posix() in SHOW_STOCK
            assert allowed or not at_load, f"{where} imports {name}"
        if root in OPTIONAL and where.name != "laws.py":
            assert not at_load, f"{where} imports the optional {name} when it is loaded"
