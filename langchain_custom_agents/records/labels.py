"""What a picture of a run says, in the language of its question."""

from collections.abc import Mapping

from langchain_custom_agents.records.record import RunRecord

_EN = {
    "run": "An agent's run",
    "answer": "Answer",
    "no_answer": "No answer",
    "answered": "answered",
    "stopped": "stopped",
    "failed": "failed",
    "unfinished": "not finished",
    "agent": "Agent",
    "dialect": "Dialect",
    "model": "Model",
    "tools": "Tools",
    "began": "Began",
    "steps": "steps",
    "calls": "tool calls",
    "tokens": "tokens",
    "counted": "counted here: the model reported none",
    "growth": "How the prompt grew",
    "kept": "sent before",
    "new": "new in the prompt",
    "written": "written by the model",
    "search": "Search in this run",
    "found": "found",
    "open": "Open all",
    "close": "Close all",
    "keys": "Keys: j k next and previous step · e open or close all · / search · Enter next find",
    "step": "Step",
    "thought": "Thought",
    "words": "The model's words",
    "cut": "Cut",
    "cut_long": "Invented by the model, and cut:",
    "repair": "Mended",
    "correction": "Corrected",
    "differs": "The dialect reads",
    "observation": "Observation",
    "no_observation": "There was no result.",
    "sources": "Sources",
    "artifact": "What the tool returned beside it",
    "prompt": "The prompt, to the letter",
    "error": "Error",
    "retries": "tried before",
    "calls_said": "Calls in the reply",
    "in": "in",
    "out": "out",
}
_JA = {
    "run": "エージェントの実行",
    "answer": "回答",
    "no_answer": "回答なし",
    "answered": "回答済み",
    "stopped": "打ち切り",
    "failed": "失敗",
    "unfinished": "未完了",
    "agent": "エージェント",
    "dialect": "方言",
    "model": "モデル",
    "tools": "ツール",
    "began": "開始",
    "steps": "ステップ",
    "calls": "ツール呼び出し",
    "tokens": "トークン",
    "counted": "モデルの報告がないため、こちらで数えた値",
    "growth": "プロンプトの伸び",
    "kept": "送信済みの部分",
    "new": "新しい部分",
    "written": "モデルの出力",
    "search": "この実行の中を検索",
    "found": "件",
    "open": "すべて開く",
    "close": "すべて閉じる",
    "keys": "キー操作: j k 次・前のステップ · e すべて開閉 · / 検索 · Enter 次の一致",
    "step": "ステップ",
    "thought": "思考",
    "words": "モデルの発言",
    "cut": "削除",
    "cut_long": "モデルの捏造として削除:",
    "repair": "修復",
    "correction": "訂正",
    "differs": "方言による読み取り",
    "observation": "観察",
    "no_observation": "結果はありませんでした。",
    "sources": "出典",
    "artifact": "ツールが併せて返したもの",
    "prompt": "送信されたプロンプト(原文)",
    "error": "エラー",
    "retries": "回の再試行",
    "calls_said": "応答内の呼び出し",
    "in": "入力",
    "out": "出力",
}
_ZH = {
    "run": "智能体的一次运行",
    "answer": "回答",
    "no_answer": "没有回答",
    "answered": "已回答",
    "stopped": "已停止",
    "failed": "失败",
    "unfinished": "未完成",
    "agent": "智能体",
    "dialect": "方言",
    "model": "模型",
    "tools": "工具",
    "began": "开始",
    "steps": "步",
    "calls": "次工具调用",
    "tokens": "词元",
    "counted": "模型没有报告，由此处计数",
    "growth": "提示词的增长",
    "kept": "已发送过的部分",
    "new": "新的部分",
    "written": "模型的输出",
    "search": "在本次运行中搜索",
    "found": "处",
    "open": "全部展开",
    "close": "全部收起",
    "keys": "按键: j k 下一步和上一步 · e 全部展开或收起 · / 搜索 · Enter 下一处",
    "step": "步骤",
    "thought": "思考",
    "words": "模型的原话",
    "cut": "删除",
    "cut_long": "模型的捏造，已删除:",
    "repair": "修复",
    "correction": "纠正",
    "differs": "方言的解读",
    "observation": "观察",
    "no_observation": "没有结果。",
    "sources": "来源",
    "artifact": "工具一并返回的内容",
    "prompt": "发送的提示词(原文)",
    "error": "错误",
    "retries": "次重试",
    "calls_said": "回复中的调用",
    "in": "输入",
    "out": "输出",
}
# Why a run ended is said in English in the record, which is data, and translated in pictures.
_WHY = {
    "ja": {
        "The run has not ended.": "実行はまだ終わっていません。",
        "The run ended.": "実行が終わりました。",
        "The model gave its final answer.": "モデルが最終回答を出しました。",
        "The run was stopped; the answer is the best the model had.": (
            "実行は打ち切られました。回答は、その時点でのモデルの最善のものです。"
        ),
        "The model's words had no form and were taken for the answer.": (
            "モデルの発言は決められた形でなかったため、そのまま回答としました。"
        ),
        " returns its result as the answer.": " の結果がそのまま回答になります。",
    },
    "zh": {
        "The run has not ended.": "运行尚未结束。",
        "The run ended.": "运行已结束。",
        "The model gave its final answer.": "模型给出了最终回答。",
        "The run was stopped; the answer is the best the model had.": (
            "运行被停止；回答是模型当时最好的回答。"
        ),
        "The model's words had no form and were taken for the answer.": (
            "模型的原话没有规定的格式，被直接当作回答。"
        ),
        " returns its result as the answer.": " 的结果直接作为回答。",
    },
}
LABELS: Mapping[str, Mapping[str, str]] = {"en": _EN, "ja": _JA, "zh": _ZH}


def language_of(record: RunRecord) -> str:
    """Return the language a run is shown in: that of its question.

    Example:
        >>> language_of(RunRecord(inputs={"input": "宏子さんの父の職業は?"}))
        'ja'
    """
    text = record.question
    if any("\u3040" <= mark <= "\u30ff" for mark in text):
        return "ja"
    if any("\u4e00" <= mark <= "\u9fff" for mark in text):
        return "zh"
    return "en"


def why_of(record: RunRecord) -> str:
    """Return why a run ended, in its language as far as the reason is one of ours.

    Example:
        >>> why_of(RunRecord(inputs={"input": "誰ですか?"}, why="The run ended."))
        '実行が終わりました。'
    """
    for said, told in _WHY.get(language_of(record), {}).items():
        if record.why.endswith(said):
            return record.why.removesuffix(said) + told
    return record.why
