"""The rules by which the extractive stand-in plays an agent: from what was read to what to do."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_custom_agents.dialects import Action, Answer, ToolSpec
from langchain_custom_agents.offline._evidence import ENOUGH, SURE, Evidence, Sentence
from langchain_custom_agents.offline._questions import (
    Question,
    analyse,
    arithmetic,
    entities,
    is_greeting,
)
from langchain_custom_agents.offline._words import (
    COMMON,
    UNSPACED,
    fold,
    group_words,
    groups,
    stem,
    words,
)
from langchain_custom_agents.tools._passages import clip

MOST_CALLS = 10
_MOST_PLACES = 3  # of one word in a page
_MOST_WORDS = 3  # looked up in one page
_MOST_TOKENS = 120

WHAT_IT_IS = "an extractive stand-in for trying and testing, not a language model"


@dataclass(frozen=True)
class Step:
    """A tool that was called, and what it returned."""

    tool: str
    given: str
    seen: str


@dataclass(frozen=True)
class Sayings:
    """What the stand-in says, in one language. Texts are `str.format` templates."""

    find: str
    find_out: str
    look_up: str
    compute: str
    know: str
    unknown: str
    unknown_thought: str
    no_tool: str
    greeting: str
    whose: str
    known: str
    again: str


SAYINGS = {
    "en": Sayings(
        find="I need to find {asked}.",
        find_out="I need to find out: {asked}",
        look_up="The page has more: I look up {asked} in it.",
        compute="This is a sum: I compute it.",
        know="I know the answer now.",
        unknown="The documents do not say.",
        unknown_thought="What I have read does not answer this.",
        no_tool="None of the tools here can find this out.",
        greeting=f"Hello! I am {WHAT_IT_IS}. Ask me something that my documents say.",
        whose="{entity}'s {relation}",
        known="{whose} is {found}. ",
        again="That does not tell. ",
    ),
    "ja": Sayings(
        find="{asked}を調べる必要がある。",
        find_out="「{asked}」を調べる必要がある。",
        look_up="ページの続きで{asked}を探す。",
        compute="計算が必要だ。",
        know="答えがわかった。",
        unknown="文書には書かれていません。",
        unknown_thought="読んだものの中に答えはない。",
        no_tool="これを調べられるツールがありません。",
        greeting="こんにちは! 私は試用とテストのための抽出式の代役で、言語モデルではありません。"
        "文書に書かれていることを質問してください。",
        whose="{entity}の{relation}",
        known="{whose}は{found}。",
        again="これではわからない。",
    ),
    "zh": Sayings(
        find="需要查明{asked}。",
        find_out="需要查明：{asked}",
        look_up="在该页面中继续查找{asked}。",
        compute="这需要计算。",
        know="我现在知道答案了。",
        unknown="文档中没有说明。",
        unknown_thought="读到的内容没有回答这个问题。",
        no_tool="这里没有能查明此事的工具。",
        greeting="你好!我是供试用和测试的抽取式替身,不是语言模型。请问文档里写到的事情。",
        whose="{entity}的{relation}",
        known="{whose}是{found}。",
        again="这还不能回答。",
    ),
}

_SEARCH = re.compile(
    r"search|retriev|find|quer|wiki|document|knowledge|intermediate answer"
    r"|検索|調べ|探|搜索|检索|查找|查询",
    re.IGNORECASE,
)
_LOOKUP = re.compile(r"\Alook[ _-]?up\b|\Alook[ _-]?up|照応|参照|查阅", re.IGNORECASE)
_SUMS = re.compile(r"calculat|\bmath|arithmetic|計算|计算", re.IGNORECASE)
_BY_TITLE = re.compile(r"\btitle|wikipedia|docstore|ページ|页面", re.IGNORECASE)

_MISSED = re.compile(
    r"\A\W*(?:could not find|no (?:more )?(?:results|page|good|relevant)"
    r"|nothing (?:was )?found|this tool takes|error\b|there is no tool|見つかりません|找不到"
    r"|\"[^\"]{0,200}\" may be:|no page is open|lookup needs|search needs|[\w ]{1,40} failed \("
    r"|[\w ]{1,64} is not a valid tool"
    # What WikipediaDocstore says when the wiki cannot be asked.
    r"|\S{1,253} (?:could not be reached \(|did not answer (?:within \d|with json;)"
    r"|gets too many requests from here \(|refuses to answer \(|has trouble of its own \("
    r"|has no api at this address \(|sends requests around in circles;|is too busy \("
    r"|is a private wiki;|does not answer as a mediawiki does;|did not understand the request \()"
    r"|the answer of \S{1,253} (?:broke off in the middle\.|is larger than \d)"
    r"|the cache cannot be used \()",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"(?:similar(?: titles| pages)?|may be|may refer to|related pages|did you mean)\s*[:：?]\s*"
    r"(?P<titles>[^\n]{1,2000})",
    re.IGNORECASE,
)
_PLACES = re.compile(r"\(Result (\d+) ?/ ?(\d+)\)")


@dataclass(frozen=True)
class Tools:
    """Which tools are of use, and for what."""

    search: ToolSpec | None
    lookup: ToolSpec | None
    sums: ToolSpec | None
    by_title: bool

    @classmethod
    def among(cls, specs: Iterable[ToolSpec], question: str) -> "Tools":
        """Sort the tools there are; the name tells more than the description."""
        usable = [spec for spec in specs if text_argument(spec) is not None]
        sums = _first(usable, _SUMS)
        lookup = next((s for s in usable if _LOOKUP.search(s.name)), None)
        rest = [spec for spec in usable if spec not in (sums, lookup)]
        search = _first(rest, _SEARCH)
        if search is None:
            asked = {stem(word) for word in words(question) if len(word) > 3}
            search = next(
                (s for s in rest if asked & {stem(word) for word in words(s.description)}), None
            )
        by_title = lookup is not None or bool(search and _BY_TITLE.search(search.description))
        return cls(search, lookup if search else None, sums, by_title)


def _first(specs: Sequence[ToolSpec], pattern: re.Pattern[str]) -> ToolSpec | None:
    for part in ("name", "description"):
        for spec in specs:
            if pattern.search(getattr(spec, part)):
                return spec
    return None


def text_argument(spec: ToolSpec) -> str | None:
    """Name the one argument that takes a text ("" if it has no name); None if that is unclear."""
    if not spec.args:
        return ""
    texts = [
        name
        for name, schema in spec.args.items()
        if not isinstance(schema, dict) or schema.get("type", "string") == "string"
    ]
    others = set(spec.required) - set(texts[:1])
    if not texts or others:
        return next(iter(spec.args)) if len(spec.args) == 1 else None
    return next((name for name in texts if name in spec.required), texts[0])


def given_to(spec: ToolSpec, text: str) -> str | dict[str, Any]:
    """Put a text into the shape a tool takes."""
    name = text_argument(spec)
    several = spec.args is not None and len(spec.args) > 1
    return {name: text} if name and several and not spec.takes_text else text


def next_step(
    asked: str,
    specs: Iterable[ToolSpec],
    steps: Sequence[Step],
    *,
    language: str = "en",
    may_act: bool = True,
) -> tuple[str, Action | Answer]:
    """Say what an agent does next.

    Args:
        asked: The question.
        specs: The tools there are.
        steps: What was done so far.
        language: The language of the prompt.
        may_act: Whether a tool may still be called.

    Returns:
        The thought, and the call or the answer.

    Example:
        >>> next_step("How old is Hiroko?", [ToolSpec("Search")], [])[1]
        Action(tool='Search', input="Hiroko's age")
    """
    say = SAYINGS[language]
    tools = Tools.among(specs, asked)
    if is_greeting(asked):
        return say.know, Answer(say.greeting)
    if tools.sums and (total := arithmetic(asked)):
        return _compute(total, tools.sums, steps, say, may_act=may_act)
    if tools.search is None and not steps:
        return say.unknown_thought, Answer(say.no_tool)
    return _Search(analyse(asked, language), tools, steps, say).next(may_act=may_act)


def _compute(
    total: str, spec: ToolSpec, steps: Sequence[Step], say: Sayings, *, may_act: bool
) -> tuple[str, Action | Answer]:
    for step in steps:
        if step.tool == spec.name:
            result = re.sub(r"\A(?:Answer|答え|答案)\s*[:：]\s*", "", step.seen.strip())
            number = re.fullmatch(r"[-+]?[\d.,]+(?:e[-+]?\d+)?", result)
            return say.know, Answer(f"{total} = {result}" if number else result or say.unknown)
    if not may_act:
        return say.unknown_thought, Answer(say.unknown)
    return say.compute, Action(spec.name, given_to(spec, total))


def from_text(asked: str, text: str, *, language: str = "en") -> str:
    """Answer a question from a text alone, without tools.

    Example:
        >>> from_text("What is takuma's occupation?", "takuma is a teacher")
        'Takuma is a teacher.'
    """
    say = SAYINGS[language]
    if is_greeting(asked):
        return say.greeting
    tools = Tools(None, None, None, by_title=False)
    read = [Step("", "", text)] if text.strip() else []
    _, move = _Search(analyse(asked, language), tools, read, say).next(may_act=False)
    return move.text if isinstance(move, Answer) else say.unknown


@dataclass
class _Open:
    """A page that was opened by its title, and what was looked up in it.

    Args:
        title: The title.
        sought: The words that were searched for in vain before the page was offered.
        shown: What Search showed of it.
        looked: What Lookup found, by the word.
    """

    title: str
    sought: str
    shown: str
    looked: dict[str, str] = field(default_factory=dict)


class _Search:
    """A question on its way through Search and Lookup."""

    def __init__(
        self, question: Question, tools: Tools, steps: Sequence[Step], say: Sayings
    ) -> None:
        self.question = question
        self.tools = tools
        self.steps = steps
        self.say = say
        self.own = SAYINGS[question.language]
        self.made = {(step.tool, fold(step.given)) for step in steps}
        self.offered: list[str] = []
        self.page: _Open | None = None
        self.instead: dict[str, str] = {}
        self.evidence = Evidence(list(self._readings()))

    def _readings(self) -> Iterable[tuple[str, str]]:
        """Yield what was read with the title of its page; note which page is open."""
        lookup = self.tools.lookup.name if self.tools.lookup else None
        sought = ""
        for step in self.steps:
            if step.tool == lookup:
                if self.page:
                    self.page.looked[fold(step.given)] = step.seen
                    if _PLACES.search(step.seen[:40]):
                        yield self.page.title, step.seen
                continue
            missed = _MISSED.match(step.seen)
            if found := _OFFERED.search(step.seen):
                # The nearest search tells most: what it offers comes first.
                titles = _titles(found["titles"])
                self.offered = [*titles, *self.offered] if missed else [*self.offered, *titles]
            if missed:
                sought = step.given
                continue
            if self.tools.by_title:
                self.page = _Open(step.given, "" if step.given == sought else sought, step.seen)
                if sought and _nearly(sought, step.given):
                    self.instead.setdefault(fold(sought), step.given)
            yield (step.given if self.tools.by_title else ""), step.seen

    def next(self, *, may_act: bool) -> tuple[str, Action | Answer]:
        """Return the next step."""
        acting = may_act and self.tools.search is not None and len(self.steps) < MOST_CALLS
        # A title that was offered for a misspelt one stands in its place.
        entity, last = self.instead.get(fold(self.question.start), self.question.start), ""
        for hop in self.question.hops:
            found = self.evidence.follow(entity, hop)
            if found:
                whose = self.own.whose.format(entity=entity, relation=hop)
                last = self.say.known.format(whose=whose, found=found)
                entity = found
                continue
            if acting and (step := self._for_hop(entity, hop)):
                return last + step[0], step[1]
            break
        else:
            return self._finish(self.question.of(entity), last, acting=acting)
        # The way is not in the documents; one sentence may still hold the answer.
        relations = " ".join(self.question.hops)
        whole = Question(
            self.question.text,
            self.question.language,
            self.question.start,
            (),
            f"{relations} {self.question.wanted}",
            self.question.kind,
        )
        return self._finish(whole, last, acting=acting)

    def _finish(
        self, question: Question, last: str, *, acting: bool
    ) -> tuple[str, Action | Answer]:
        best = self.evidence.best(question)
        unread = self._hopped(question) and self.tools.by_title
        if unread and acting and (step := self._call(self._finding(question), [question.start])):
            return last + step[0], step[1]
        if best and best[1] >= SURE:
            return last + self.say.know, Answer(as_answer(best[0], question))
        if acting and (step := self._for_answer(question)):
            return last + step[0], step[1]
        if best and best[1] >= ENOUGH:
            return last + self.say.know, Answer(as_answer(best[0], question))
        return self.say.unknown_thought, Answer(self.say.unknown)

    # -- what to call ---------------------------------------------------------------------------

    def _for_hop(self, entity: str, hop: str) -> tuple[str, Action] | None:
        whose = self.own.whose.format(entity=entity, relation=hop)
        thought = self.say.find.format(asked=whose)
        if self.tools.by_title:
            return (
                self._call(thought, [entity])
                or self._look_up(entity, [hop, *_kin(hop)])
                or self._call(thought, self._fitting([entity, hop]))
            )
        if self._asks:
            return self._call(thought, [f"Who is {whose}?", f"{whose}?", entity])
        kin = [self.own.whose.format(entity=entity, relation=word) for word in _kin(hop)]
        return self._call(thought, [whose, *kin, f"{entity} {hop}", entity])

    def _for_answer(self, question: Question) -> tuple[str, Action] | None:
        terms, start = question.terms, question.start
        hopped = self._hopped(question)
        thought = self._finding(question)
        if self.tools.by_title:
            named = [start] if start else []
            if not hopped:
                named += [name for name in entities(question.text) if name not in named]
            phrases = [] if hopped else _phrases(question)
            about = [*question.named, *terms]
            return (
                self._call(thought, named[:2])
                or self._look_up(start, self._unread(terms))
                or self._call(thought, self._fitting(about))
                or self._call(thought, self.offered[:2] if start and not self.page else [])
                or self._call(thought, phrases if not self.page or not start else [])
                or (None if hopped else self._call(thought, self.offered[:2]))
            )
        short = _in_short(question) if start else question.text
        whole = _as_question(question) if hopped else question.text
        if self._asks:
            return self._call(thought, [whole, short])
        queries = [short] if hopped or _is_short(question) else []
        if not hopped:
            queries.append(question.text)
        queries += [" ".join([*question.named, *terms]), start]
        return self._call(thought, queries)

    def _hopped(self, question: Question) -> bool:
        """Whether a question is about another entity than the one that was asked about."""
        start = self.question.start
        return question.start not in (start, self.instead.get(fold(start)))

    def _finding(self, question: Question) -> str:
        """Say what has to be found: what is asked of the entity, or the question as it stands."""
        again = self.say.again if self.steps and not self._hopped(question) else ""
        if question.start and (self._hopped(question) or _is_short(question)):
            return again + self.say.find.format(asked=_in_short(question))
        return again + self.say.find_out.format(asked=question.text)

    @property
    def _asks(self) -> bool:
        """Whether the tool is one that is asked whole questions, as self-ask's is."""
        search = self.tools.search
        return search is not None and search.name == "Intermediate Answer"

    def _call(self, thought: str, queries: Iterable[str]) -> tuple[str, Action] | None:
        """Search for the first of these that was not searched for yet."""
        spec = self.tools.search
        for query in queries:
            if spec and query.strip() and (spec.name, fold(query)) not in self.made:
                return thought, Action(spec.name, given_to(spec, query))
        return None

    def _fitting(self, about: Iterable[str]) -> list[str]:
        """Return the titles offered that share a word with what is asked, the best first."""
        asked = {stem(word) for part in about for word in words(part) if word not in COMMON}
        fitting = []
        for order, title in enumerate(dict.fromkeys(self.offered)):
            own = {stem(word) for word in words(title) if word not in COMMON}
            shared = len(asked & own)
            shared += sum(UNSPACED.search(a) is not None and a in fold(title) for a in asked)
            if shared:
                fitting.append((-shared, len(own), order, title))
        return [title for *_, title in sorted(fitting)]

    def _unread(self, terms: Sequence[str]) -> list[str]:
        """Order words to look up: what the page has not shown yet first, long words first."""
        shown = fold(self.page.shown) if self.page else ""
        return sorted(_telling(terms), key=lambda term: (_to_look_up(term) in shown, -len(term)))

    def _look_up(self, entity: str, asked: Iterable[str]) -> tuple[str, Action] | None:
        """Look words up in the open page, each at its first few places.

        A page that was only offered for a word is first asked for that word.
        """
        spec, page = self.tools.lookup, self.page
        if spec is None or page is None:
            return None
        titled = fold(page.title)
        first = [word for word in (page.sought, entity) if word and fold(word) not in titled]
        if len(words(page.sought)) > 3:
            first = first[1:]
        wanted = [fold(word) for word in first[:1]]
        wanted += [term for word in asked if (term := _to_look_up(word)) not in titled]
        for word in list(dict.fromkeys(wanted))[:_MOST_WORDS]:
            seen = page.looked.get(word)
            place = _PLACES.search(seen[:40]) if seen else None
            if seen is None or (place and int(place[1]) < min(int(place[2]), _MOST_PLACES)):
                return self.say.look_up.format(asked=word), Action(spec.name, given_to(spec, word))
            if not place and first and word == fold(first[0]):
                return None
        return None


def _nearly(sought: str, title: str) -> bool:
    """Tell whether a title is another spelling of what was sought."""
    return difflib.SequenceMatcher(None, fold(sought), fold(title)).ratio() >= 0.8


def _phrases(question: Question) -> list[str]:
    """Return the runs of telling words in a question, the longest first: names of things."""
    if question.language != "en":
        return list(_telling(question.terms))
    runs: list[list[str]] = [[]]
    for word in re.findall(r"[^\s,;:?!\"“”()]+", question.text):
        if fold(word) in COMMON or not re.search(r"\w", word):
            runs.append([])
        else:
            runs[-1].append(word.strip(".'"))
    phrases = sorted((" ".join(run) for run in runs if len(run) > 1), key=lambda p: -len(p.split()))
    singular = [re.sub(r"(?<=[a-z]{3}[^su])s\Z", "", term) for term in _telling(question.terms)]
    return [*phrases, *sorted(singular, key=lambda term: -len(term))]


def _is_short(question: Question) -> bool:
    """Tell whether a question comes down to "X's Y"."""
    parsed = len(question.wanted) < len(question.text.rstrip("?？ ")) - 8
    return bool(question.start) and (parsed or question.kind in ("age", "occupation"))


def _telling(terms: Iterable[str]) -> list[str]:
    """Leave out words that say only what kind of answer is wanted."""
    return [t for t in terms if UNSPACED.search(t) or (len(t) > 2 and not groups(t) & _TYPES)]


_TYPES = {"age", "occupation"}


def _kin(hop: str) -> list[str]:
    """Return the words under which a relation may stand in a page."""
    unspaced = bool(UNSPACED.search(hop))
    return [
        word
        for name in sorted(groups(fold(hop)))
        for word in group_words(name)
        if bool(UNSPACED.search(word)) == unspaced and word != fold(hop)
    ][:2]


def _to_look_up(word: str) -> str:
    """Shorten a word so that its other forms are found with it: Lookup finds parts of words."""
    folded = fold(word)
    short = stem(folded)
    return short if len(short) >= 5 else folded


def _titles(listed: str) -> list[str]:
    """Read offered titles: "A; B." and "['A', 'B']"."""
    listed = listed.strip()
    if listed.startswith("["):
        return [one or other for one, other in re.findall(r"'([^']+)'|\"([^\"]+)\"", listed)]
    listed = re.split(r"\. (?:Search for one|Lookup still)", listed)[0].rstrip(".")
    return [title.strip() for title in listed.split(";") if title.strip()]


def _in_short(question: Question) -> str:
    """Say what is asked of the entity in a few words to search for."""
    if question.kind == "occupation":
        relation = {"en": "occupation", "ja": "職業", "zh": "职业"}[question.language]
    elif question.kind == "age":
        relation = {"en": "age", "ja": "年齢", "zh": "年龄"}[question.language]
    else:
        relation = " ".join(question.terms)
    if not relation:
        return question.start
    if question.language == "en" and len(relation.split()) > 1:
        return f"{question.start} {relation}"
    return SAYINGS[question.language].whose.format(entity=question.start, relation=relation)


def _as_question(question: Question) -> str:
    short = _in_short(question)
    if question.language == "en":
        return f"What is {short}?"
    return f"{short}は?" if question.language == "ja" else f"{short}是什么?"


def as_answer(sentence: Sentence, question: Question) -> str:
    """Make a sentence stand alone: on one line, not endless, with its capital and full stop."""
    about = next((t for t in question.terms if t in sentence.folded), "")
    text = clip(" ".join(sentence.text.split()), _MOST_TOKENS, about)
    text = text[:1].upper() + text[1:] if text[:2].isalpha() or text[1:2] == "'" else text
    if text[-1:].isalnum():
        text += "。" if UNSPACED.search(text[-1]) else "."
    return text
