"""The Japanese guide says what the table in the code says."""

from pathlib import Path

from langchain_custom_agents.agents.types import AGENTS

GUIDE = Path(__file__).parents[3] / "docs/ja/agents.md"


def test_the_table_is_in_step() -> None:
    """Each type stands in the table with its class, its dialect and what it can do."""

    def yes(value: bool) -> str:
        return "はい" if value else "いいえ"

    rows = []
    for kind, row in AGENTS.items():
        dialect = "提供元" if row.dialect is None else f"`{type(row.dialect).__name__}`"
        model = "ツール呼び出し" if row.model == "tool calling" else "テキスト・チャット"
        can = yes(row.several_inputs), yes(row.parallel_calls), yes(row.history)
        cells = f"`{kind.value}`", f"`{row.agent.__name__}`", dialect, model, *can
        rows.append(f"| {' | '.join(cells)} |")
    lines = GUIDE.read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if line.startswith("| `")] == rows
