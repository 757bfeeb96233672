"""Which tool a model means: exactly, then without mark-up, then one unique match, or none."""

import difflib
import re

from langchain_custom_agents.dialects.toolbox import Toolbox

# A name that is longer, or a sentence, is not a name.
LONGEST_NAME, _MOST_WORDS = 64, 8

_MARKUP = " \t\n`*_\"'“”‘’「」『』<>:：.,;|"
_PAIRED = (("[", "]"), ("(", ")"), ("{", "}"))
_NAMESPACE = re.compile(
    r"(?:(?:functions?|tools?|default_api|multi_tool_use|api|agent|self|client)\.)+", re.IGNORECASE
)
_SENTENCE = re.compile(r"[,;!?。、，！？]|\.\s|[\[\]{}<>=\n]|\A\W*\Z")
_BEFORE = {
    "i",
    "will",
    "should",
    "use",
    "using",
    "call",
    "calling",
    "run",
    "running",
    "invoke",
    "try",
    "the",
    "a",
    "an",
    "tool",
}
_AFTER = {"tool", "function"}
# The same where no spaces part the words.
_UNSPACED = re.compile(
    r"(?:使用|[调調]用)?\s?[「『]?(?P<name>.+?)[」』]?\s?(?:という)?(?:ツール|関数|工具|函[数數])?\s?"
    r"(?:を\s?(?:使|用い|利用|呼|実行)\w{0,8})?",
    re.DOTALL,
)

_NO_TOOL = {
    "none", "na", "null", "nil", "nothing", "notool", "noaction", "notapplicable", "nonenecessary",
    "notoolneeded", "noactionneeded", "noactionrequired", "notoolrequired", "noneneeded",
    "nonerequired",
    "nofurtheraction", "nofurtheractionneeded", "nofurtheractionrequired", "toolnotneeded",
    "なし", "無し", "不要", "無", "无", "没有", "不需要", "无需",
    "无需工具", "ツール不要", "該当なし",
}  # fmt: skip
_ECHO = re.compile(
    r"action to take|(?:must|should) be one of|^one of\b|name of (?:the|a) tool|tool[ _]name$"
    r"|^\$|^the tool(?: to use)?$|^action[ _]name$|^your (?:chosen )?tool$"
    r"|ツールの名前|工具的?名称",
    re.IGNORECASE,
)


def letters(name: str) -> str:
    """Return what is left of a name without mark-up, spaces and case.

    Example:
        >>> letters("**Get Weather**")
        'getweather'
    """
    return "".join(mark for mark in name.casefold() if mark.isalnum())


def bare(name: str) -> str:
    """Return a name without the mark-up around it.

    Example:
        >>> bare("`[Search]`")
        'Search'
    """
    while True:
        before = name
        name = name.strip(_MARKUP)
        for left, right in _PAIRED:
            if name.startswith(left) and name.endswith(right):
                name = name[1:-1]
        if name == before:
            return name


def is_none(name: str) -> bool:
    """Tell whether the words say that no tool is to be called.

    Example:
        >>> is_none("N/A"), is_none("Search")
        (True, False)
    """
    return len(name) <= LONGEST_NAME and letters(name) in _NO_TOOL


def is_echo(name: str) -> bool:
    """Tell whether the words repeat the place where instructions put a tool's name.

    Example:
        >>> is_echo("the action to take, should be one of [Search]")
        True
    """
    return bool(_ECHO.search(name[:400].strip(_MARKUP + "[]{}()")))


def is_name(name: str) -> bool:
    """Tell whether the words can be the name of a tool, where it is not known which there are.

    Example:
        >>> is_name("Current Search"), is_name("Use the library to write code, then post it")
        (True, False)
    """
    return (
        0 < len(name) <= LONGEST_NAME
        and len(name.split()) <= _MOST_WORDS
        and not _SENTENCE.search(name)
        and not is_none(name)
        and not is_echo(name)
    )


def is_other_name(name: str, toolbox: Toolbox) -> bool:
    """Tell whether the words can name a tool that is none of these, and no slip for one of them.

    Example:
        >>> tools = Toolbox.of(["Search"])
        >>> is_other_name("Calculator", tools), is_other_name("Serch", tools)
        (True, False)
    """
    near = [letters(known) for known in toolbox.names]
    return is_name(name) and not difflib.get_close_matches(letters(name), near, 1, 0.85)


def resolve(said: str, toolbox: Toolbox) -> str | None:
    """Return the tool that a name means.

    Args:
        said: The name as the model wrote it.
        toolbox: The tools there are; if none are known, a plausible name is taken as it is.

    Returns:
        The tool's name; None if the words do not name one tool.

    Example:
        >>> tools = Toolbox.of(["Search", "Look up"])
        >>> resolve("Use the Search tool", tools), resolve("LOOKUP", tools), resolve("Serch", tools)
        ('Search', 'Look up', None)
        >>> resolve("Searchツールを使う", tools)
        'Search'
    """
    said = said.strip()
    if said in toolbox:
        return said
    name = _NAMESPACE.sub("", bare(said), count=1) if len(said) <= 4 * LONGEST_NAME else ""
    name = re.sub(r":\d{1,3}\Z", "", name)
    if not toolbox:
        return name if is_name(name) else None
    if name in toolbox:
        return name
    if is_none(name):
        return None
    for key in (letters, _core_letters):
        near = [known for known in toolbox.names if key(known) == key(name) != ""]
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _core(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0].casefold() in _BEFORE:
        words = words[1:]
    while len(words) > 1 and words[-1].casefold() in _AFTER:
        words = words[:-1]
    return words


def _core_letters(name: str) -> str:
    unspaced = _UNSPACED.fullmatch(name)
    name = unspaced["name"] if unspaced else name
    return letters(" ".join(_core(re.split(r"[\s_\-]+", name))))
