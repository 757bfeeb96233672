"""What a dialect says to a model in plain words, per language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrases:
    """The sentences around a written form. Texts are `str.format` templates.

    Args:
        introduction: Opens the prompt, before the tools.
        form: Opens the description of the form.
        thinking: The thought of the example step.
        tool: Stands for a tool where none is known.
        input: The input of the example step.
        result: The observation of the example step.
        repeat: Says that steps may repeat.
        knowing: The thought of the example finish.
        answer: The answer of the example finish.
        begin: Closes the instructions.
        history: Opens the conversation so far.
        misread: Answers words that could not be read; takes reason and form.
        action_form: The way to act, in one line; takes form and tools.
        no_tools: The way to act where there is no tool.
        no_such_tool: The reason given for an unknown tool; takes tool and tools.
        no_form: The reason given for words with no form.
        empty: The reason given for no words at all.
        empty_answer: The reason given for a finish with no answer in it.
        no_tool: The reason given for an action that names no tool.
        no_input: The reason given for an action without its input; takes tool.
        unclear: The reason given for a form that does not fit together.
        cut_off: The reason given for a step that breaks off.
        bad_json: The reason given for JSON that cannot be read.
        bad_input: The reason given for an input the tool does not take; takes tool and detail.
        echo: The reason given for words that repeat the instructions.
        quoted: The reason given for a form that only stands there as an example.
        only_observation: The reason given when all that was written is an observation.
        wrap_up: Asks for the best answer when a limit is reached.

    Example:
        >>> IN_ENGLISH.no_such_tool.format(tool="Serch", tools="Search")
        'there is no tool named Serch; the tools are: Search'
    """

    introduction: str
    form: str
    thinking: str
    tool: str
    input: str
    result: str
    repeat: str
    knowing: str
    answer: str
    begin: str
    history: str
    misread: str
    action_form: str
    no_tools: str
    no_such_tool: str
    no_form: str
    empty: str
    empty_answer: str
    no_tool: str
    no_input: str
    unclear: str
    cut_off: str
    bad_json: str
    bad_input: str
    echo: str
    quoted: str
    only_observation: str
    wrap_up: str


IN_ENGLISH = Phrases(
    introduction="Answer the question as well as you can. These tools are at your disposal:",
    form="Reply in exactly this form, one step at a time:",
    thinking="what to find out next, and how",
    tool="the name of a tool",
    input="what to call the tool with",
    result="what the tool returned; it is given to you, never write it yourself",
    repeat="(these steps may repeat)",
    knowing="I know the answer now",
    answer="the answer to the question",
    begin="Begin.",
    history="The conversation so far:",
    misread="That reply could not be read: {reason}. {form}",
    action_form="To use a tool or to finish, write: {form}. Tools: {tools}.",
    no_tools="To finish, write: {form}. There are no tools.",
    no_such_tool="there is no tool named {tool}; the tools are: {tools}",
    no_form="it holds neither an action nor a final answer",
    empty="it is empty",
    empty_answer="its final answer is empty",
    no_tool="its action names no tool",
    no_input="its action {tool} has no input",
    unclear="its parts do not fit together",
    cut_off="it breaks off in the middle",
    bad_json="its JSON is not valid",
    bad_input="its input does not fit the tool {tool}: {detail}",
    echo="it repeats the instructions in place of a step",
    quoted="it shows a step only as an example",
    only_observation="it invents an observation; observations are given to you",
    wrap_up="No more tools can be used. Give the best final answer from what was found so far.",
)

IN_JAPANESE = Phrases(
    introduction="質問にできるだけ正確に答えてください。次のツールが使えます:",
    form="一度に一歩ずつ、必ず次の形式で答えてください:",
    thinking="次に何をどう調べるか",
    tool="ツールの名前",
    input="ツールに渡す入力",
    result="ツールが返した結果 (これは与えられるもので、自分では決して書かない)",
    repeat="(この手順は繰り返してよい)",
    knowing="答えがわかった",
    answer="質問への答え",
    begin="始めましょう。",
    history="これまでの会話:",
    misread="その返答は読み取れませんでした: {reason}。{form}",
    action_form="ツールを使うとき、または終えるときの書き方: {form}。ツール: {tools}。",
    no_tools="終えるときは、こう書いてください: {form}。使えるツールはありません。",
    no_such_tool="{tool} というツールはありません。使えるツール: {tools}",
    no_form="行動も最終回答もありません",
    empty="何も書かれていません",
    empty_answer="最終回答が空です",
    no_tool="行動にツールの名前がありません",
    no_input="行動 {tool} に入力がありません",
    unclear="各部分のつじつまが合いません",
    cut_off="途中で切れています",
    bad_json="JSON が正しくありません",
    bad_input="入力がツール {tool} に合いません: {detail}",
    echo="手順の代わりに指示を繰り返しています",
    quoted="手順が例として書かれているだけです",
    only_observation="観察を自分で作っています。観察は与えられるものです",
    wrap_up="これ以上ツールは使えません。これまでにわかったことから最善の答えを出してください。",
)

IN_CHINESE = Phrases(
    introduction="请尽可能准确地回答问题。可以使用以下工具:",
    form="请一步一步地回答,严格使用以下格式:",
    thinking="下一步要查明什么,怎样查",
    tool="工具的名称",
    input="传给工具的输入",
    result="工具返回的结果 (由系统给出,绝不要自己编写)",
    repeat="(以上步骤可以重复)",
    knowing="我现在知道答案了",
    answer="问题的答案",
    begin="开始。",
    history="到目前为止的对话:",
    misread="无法读懂该回复: {reason}。{form}",
    action_form="要使用工具或结束,请这样写: {form}。工具: {tools}。",
    no_tools="要结束,请这样写: {form}。没有可用的工具。",
    no_such_tool="没有名为 {tool} 的工具。可用的工具: {tools}",
    no_form="其中既没有行动也没有最终答案",
    empty="回复是空的",
    empty_answer="最终答案是空的",
    no_tool="行动没有写明工具",
    no_input="行动 {tool} 没有输入",
    unclear="各部分无法对应",
    cut_off="它在中途中断了",
    bad_json="其中的 JSON 无效",
    bad_input="输入不符合工具 {tool}: {detail}",
    echo="它重复了说明,而没有写出步骤",
    quoted="其中的步骤只是举例",
    only_observation="它编造了观察结果;观察结果由系统给出",
    wrap_up="不能再使用工具了。请根据目前的发现给出最好的答案。",
)
