"""What a question asks, as far as rules can tell: of whom, which way, for what kind of thing."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from langchain_custom_agents.offline._words import (
    COMMON,
    fold,
    group_of,
    groups,
    language_of,
    terms_of,
    word_set,
)

Kind: TypeAlias = Literal[
    "thing", "person", "place", "time", "number", "age", "occupation", "reason", "definition"
]


_LONGEST = 2_000  # letters of a question that are looked at


@dataclass(frozen=True)
class Question:
    """A question, taken apart.

    Args:
        text: The question as it was put.
        language: "en", "ja" or "zh".
        start: The one thing or person that is named, as far as that is clear.
        hops: The relations to follow from there, one after another, before the last is asked.
        wanted: What is asked of whoever stands at the end.
        kind: The kind of thing that would be an answer.
    """

    text: str
    language: str
    start: str = ""
    hops: tuple[str, ...] = ()
    wanted: str = ""
    kind: Kind = "thing"

    def of(self, entity: str) -> "Question":
        """Return what remains to be asked when the hops have led to an entity."""
        return replace(self, start=entity, hops=())

    @property
    def terms(self) -> tuple[str, ...]:
        """The words an answer should hold, beside those that name the entity."""
        named = set(terms_of(self.start, self.language))
        return tuple(t for t in terms_of(self.wanted, self.language) if t not in named)

    @property
    def named(self) -> tuple[str, ...]:
        """The words that name the entity."""
        return terms_of(self.start, self.language)


def analyse(text: str, default_language: str = "en") -> Question:
    """Take a question apart.

    Args:
        text: The question.
        default_language: What to take Han characters for that are no sure sign of either
            Japanese or Chinese.

    Returns:
        The question. What is not understood stays in `wanted`.

    Example:
        >>> asked = analyse("What is hiroko's father's ocupation?")
        >>> asked.start, asked.hops, asked.wanted, asked.kind
        ('hiroko', ('father',), 'ocupation', 'occupation')
        >>> asked = analyse("ひろこの父の職業は何ですか?")
        >>> asked.start, asked.hops, asked.wanted, asked.kind
        ('ひろこ', ('父',), '職業', 'occupation')
    """
    text = " ".join(text[:_LONGEST].replace("’", "'").split())
    language = language_of(text, default_language)
    if language == "en":
        start, hops, wanted = _chain_en(text)
    else:
        start, hops, wanted = _chain_unspaced(text, language)
    kind = _kind(text, wanted, language)
    if re.fullmatch(
        rf"who (?:is|are|was|were) {re.escape(fold(start))}", fold(text).rstrip(" ?.!")
    ):
        kind = "definition"  # of somebody named; "Who is the landlord?" wants the name
    return Question(text, language, start, hops, wanted, kind)


# -- English --------------------------------------------------------------------------------------

_CONTRACTION = re.compile(
    r"\b(what|who|that|it|here|there|where|how|when|let|he|she)'s\b", re.IGNORECASE
)
_ASKING = word_set("""
    what who whom whose where when which why how is are was were do does did can could will would
    should has have had tell me please find out give say and so the a an of in on at by for to from
    name old many much long year many's kind type
    """)
_COPULA = re.compile(
    r"(?:(?:please )?(?:tell me|find out|say|give me) )?"
    r"(?:what|who|which|whose)?(?: is| are| was| were)?(?: the| an| a)?(?: name of)?(?: the)?\Z",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”`]([^\"“”`]{2,80})[\"“”`]|(?<!\w)'([^']{2,80})'(?!\w)")
_NAME = r"(?:[A-Z0-9][\w.\-+]*|\w{1,60}[._]\w[\w.]*(?:\(\))?|\w{1,60}\(\))"
_NAMES = re.compile(rf"\b{_NAME}(?:(?: (?:of|de|van|von|la|del|di|the))? {_NAME})*")
_OF = re.compile(
    r"\bthe (?P<relation>[\w-]+(?: [\w-]+)?) of (?P<rest>.+)\Z",
    re.IGNORECASE,
)


def _chain_en(text: str) -> tuple[str, tuple[str, ...], str]:
    text = _CONTRACTION.sub(r"\1 is", text).rstrip(" ?.!")
    if chain := _possessive_chain(text):
        return chain
    if chain := _of_chain(text):
        return chain
    return _entity(text), (), text


def _possessive_chain(text: str) -> tuple[str, tuple[str, ...], str] | None:
    """Read "X's Y's Z", and "the Z of X's Y"."""
    tokens = text.split()
    owners = [i for i, token in enumerate(tokens) if re.search(r"\w(?:'s|s')\Z", token)]
    if not owners:
        return None
    first = begin = owners[0]
    head = tokens[first][: tokens[first].rindex("'")]
    capital = head[:1].isupper()
    while begin > 0:
        before = tokens[begin - 1]
        if before.lower() in _ASKING and not (before.istitle() and capital and begin > 1):
            break
        if before.lower() in COMMON or (capital and not before[:1].isupper()):
            break
        begin -= 1
    start = " ".join([*tokens[begin:first], head])
    relations: list[str] = []
    for this, following in pairwise(owners):
        phrase = " ".join(tokens[this + 1 : following + 1])
        relations.append(phrase[: phrase.rindex("'")])
    lead, rest = " ".join(tokens[:begin]), tokens[owners[-1] + 1 :]
    if not rest:
        return None
    above = re.match(r"(.*?)\bthe ([\w-]+(?: [\w-]+)?) of(?: the)?\Z", lead, re.IGNORECASE)
    if above and above[2].lower() != "name" and _COPULA.match(above[1].strip()):
        return start, (*relations, " ".join(rest)), above[2]
    if _COPULA.match(lead):
        last = " ".join(rest)
        if relations and last.lower() in ("name", "full name"):
            return start, tuple(relations[:-1]), relations[-1]
        return start, tuple(relations), last
    length = next((i + 1 for i, word in enumerate(rest[:3]) if groups(fold(word))), 1)
    relation, after = " ".join(rest[:length]), " ".join(rest[length:])
    wanted = _without_asking(f"{lead} {after}".strip())
    if not groups(fold(relation)) and not wanted:
        return start, tuple(relations), relation
    return start, (*relations, relation), f"{lead} {after}".strip()


def _without_asking(text: str) -> str:
    return " ".join(word for word in text.split() if word.lower() not in _ASKING)


def _of_chain(text: str) -> tuple[str, tuple[str, ...], str] | None:
    """Read "the Z of the Y of X", and "the Y of X" with something asked about it."""
    found = _OF.search(text)
    if not found:
        return None
    lead = text[: found.start()].strip()
    relations = [found["relation"]]
    rest = found["rest"]
    while inner := re.match(r"the (?P<relation>[\w-]+) of (?P<rest>.+)\Z", rest, re.IGNORECASE):
        relations.append(inner["relation"])
        rest = inner["rest"]
    names = _NAMES.match(rest)
    start = names[0] if names else rest.removeprefix("the ").split(" ")[0]
    after = rest[names.end() if names else rest.find(start) + len(start) :].strip()
    relations.reverse()
    copula = bool(_COPULA.match(lead))
    known = bool(groups(fold(relations[0])))
    if copula and not after and len(relations) > 1:
        return start, tuple(relations[:-1]), relations[-1]
    if not copula and known and (after or "how" in lead.lower()):
        return start, tuple(relations), f"{lead} {after}".strip()
    return None


def _entity(text: str) -> str:
    """Guess the one thing a question names: quoted, written like a name, or its only word."""
    if named := entities(text):
        return named[0]
    about = [term for term in terms_of(text, "en") if not groups(term)]
    return about[0] if len(about) == 1 else ""


def entities(text: str) -> list[str]:
    """List what a question names: quotations first, then names, the longest first."""
    quoted = [first or second for first, second in _QUOTED.findall(text)]
    rest = _QUOTED.sub(" ", text)
    names: list[str] = []
    for found in _NAMES.finditer(rest):
        name, begins = found[0].rstrip(".,;:?!"), not rest[: found.start()].strip()
        parts = name.split()
        while parts and fold(parts[0]) in _ASKING | COMMON and (begins or len(parts[0]) > 1):
            parts = parts[1:]
        if parts and not (len(parts) == 1 and (parts[0].isdigit() or len(parts[0]) < 2)):
            names.append(" ".join(parts))
    names.sort(key=len, reverse=True)
    return list(dict.fromkeys([*quoted, *names]))


# -- Japanese and Chinese -------------------------------------------------------------------------

_TAIL = {
    "ja": re.compile(
        r"(?:[はがをにで]|って|とは)?(?:(?:、|\s)*(?:何|なん|なに|誰|だれ|どこ|いつ|いくつ|いくら|どなた|どちら|どう"
        r"|どの|どれ|どんな|何歳|何年|何人)|[をに]?(?:教えて|調べて)).*\Z"
    ),
    "zh": re.compile(
        r"(?:是|叫|在|有|做|住在?|今年)*(?:什么时候|什么|谁|哪里|哪儿|哪|多少|多大|几岁|几|怎么|怎样|为什么).*\Z"
    ),
}
_OWNED = {"ja": "の", "zh": "的"}
_TITLES = re.compile(r"(?:さん|ちゃん|くん|君|氏|様|さま)\Z")
_OPENING = re.compile(r"\A(?:请问|請問|告诉我|では|それで|ところで)[、,，]?")


def _chain_unspaced(text: str, language: str) -> tuple[str, tuple[str, ...], str]:
    clean = _OPENING.sub("", text.rstrip(" ?？。.!！"))
    tail = _TAIL[language].search(clean)
    noun_phrase = clean[: tail.start()] if tail else clean
    asked = clean[tail.start() :] if tail else ""
    noun_phrase = re.sub(r"[はがをにで、,，]+\Z", "", noun_phrase)
    parts = [part.strip() for part in noun_phrase.split(_OWNED[language]) if part.strip()]
    # A clause is not a chain of nouns.
    if not parts or len(noun_phrase) > 40 or any(len(part) > 16 for part in parts):
        return "", (), clean
    quoted = re.search(r"[「『“\"]([^」』”\"]+)[」』”\"]", clean)
    topic = re.match(r"(.{1,12}?)は(.+)\Z", parts[-1]) if language == "ja" else None
    if topic and not groups(topic[1]):
        parts, asked = [*parts[:-1], topic[1]], topic[2] + asked
    start = _TITLES.sub("", quoted[1] if quoted else parts[0])
    relations = parts[1:]
    kind = _kind(asked, "", language)
    bare = not terms_of(asked, language) and kind in ("thing", "person", "definition")
    if not relations:
        return start, (), f"{start}{asked}"
    if bare and relations[-1] in ("名前", "名字", "お名前") and len(relations) > 1:
        return start, tuple(relations[:-2]), relations[-2]
    if bare or not groups(relations[-1]):
        return start, tuple(relations[:-1]), relations[-1] + ("" if bare else asked)
    person = group_of(relations[-1])
    if person in ("occupation", "age", "birthday", "home", "name", "price", "color", "capital"):
        return start, tuple(relations[:-1]), relations[-1] + asked
    return start, tuple(relations), asked


# -- the kind of answer ---------------------------------------------------------------------------

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("occupation", re.compile(r"\bfor a living\b|\bwork as\b")),
    ("age", re.compile(r"\bhow old\b|\bage\Z|何歳|いくつですか|多大|几岁|年齢|年龄")),
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|long|far|tall|high|big|large|deep|often)\b|\bwhat number\b"
            r"|いくつ|いくら|何人|何個|何回|何本|何冊|何日|何メートル|多少|几[个位本次天年只]"
        ),
    ),
    (
        "time",
        re.compile(
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century)\b"
            r"|いつ|何年|何月|什么时候|哪年|哪一年"
        ),
    ),
    ("place", re.compile(r"\bwhere\b|どこ|どちら|哪里|哪儿|在哪")),
    ("person", re.compile(r"\bwho(?:m|se)?\b|誰|だれ|どなた|谁")),
    ("reason", re.compile(r"\bwhy\b|なぜ|どうして|为什么")),
)  # fmt: skip


def _kind(text: str, wanted: str, language: str) -> Kind:
    asked = fold(text).rstrip(" ?.!")
    for kind, pattern in _KINDS:
        if pattern.search(asked):
            return kind
    for term in terms_of(wanted, language)[-1:]:
        if group_of(term) in ("occupation", "age"):
            return "occupation" if group_of(term) == "occupation" else "age"
    if language == "ja" and re.search(r"何をして|どんな仕事", text):
        return "occupation"
    if language == "zh" and re.search(r"做什么|干什么", text):
        return "occupation"
    about = terms_of(wanted or text, language)
    if re.match(r"what (?:do|does|did) .+ do\Z", asked) and (wanted != text.rstrip(" ?.!")):
        return "occupation"
    if re.match(r"what (?:is|are|was|were|do|does|did)\b", asked) and len(about) <= 2:
        return "definition"
    return "thing"


# -- sums -----------------------------------------------------------------------------------------

_SPELLED = tuple(
    (re.compile(pattern, re.IGNORECASE), sign)
    for pattern, sign in (
        (r"\s*(?:multiplied by|times|かける|掛ける|乘以|乘)\s*", "*"),
        (r"\s*(?:divided by|over|割る|わる|除以)\s*", "/"),
        (r"\s*(?:plus|足す|たす|加上|加)\s*", "+"),
        (r"\s*(?:minus|引く|ひく|减去|减)\s*", "-"),
        (r"\s*(?:to the power of|raised to)\s*", "**"),
        (r"(\d+(?:\.\d+)?)\s*(?:%|percent|パーセント)\s*(?:of|の)\s*", r"\1/100*"),
        (r"(?:the )?square root of\s*(\d+(?:\.\d+)?)", r"sqrt(\1)"),
        (r"(\d+(?:\.\d+)?)\s*の平方根", r"sqrt(\1)"),
        (r"(\d+(?:\.\d+)?)\s*squared", r"\1**2"),
        (r"(\d+(?:\.\d+)?)\s*cubed", r"\1**3"),
    )
)
_SIGNS = str.maketrans({"×": "*", "✕": "*", "÷": "/", "−": "-", "–": "-"})
_SUM = re.compile(r"(?:sqrt\(|[(\d.])[\d\s.,()+\-*/^%]*(?:sqrt\([\d.]+\)[\d\s.,()+\-*/^%]*)*")


def arithmetic(text: str) -> str:
    """Find the sum a question asks for; "" if it asks for none.

    Example:
        >>> arithmetic("What is 128*345?"), arithmetic("What is 15% of 80?")
        ('128*345', '15/100*80')
        >>> arithmetic("12かける3は?"), arithmetic("Who won in 1996-97?")
        ('12*3', '')
    """
    written = fold(text[:2_000]).translate(_SIGNS)
    if re.search(r"\b(?:when|who|where|which)\b|いつ|誰|どこ|什么时候|谁|哪", written):
        return ""
    for pattern, sign in _SPELLED:
        written = pattern.sub(sign, written)
    best = ""
    for found in _SUM.finditer(written):
        candidate = found[0].strip(" .,%^/*+-") if "(" not in found[0] else found[0].strip(" .,")
        if re.search(r"[\d)]\s*[-+*/^%]{1,2}\s*[\d(s]|sqrt", candidate) and len(candidate) > len(
            best
        ):
            best = candidate
    if best and best.count("(") != best.count(")"):
        return ""
    rest = written.replace(best, " ") if best else ""
    about = [t for t in terms_of(rest, language_of(text)) if t not in _ABOUT_SUMS]
    # A date or a range in a question about something else is not a sum.
    return re.sub(r"(?<=\d),(?=\d{3})", "", best) if best and len(about) <= 1 else ""


_ABOUT_SUMS = word_set(
    "calculate compute result value answer equal equals sum product difference power raised "
    "計算 答え 結果 计算 结果 等于 いくら"
)
_GREETING = re.compile(
    r"\A\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks?|thank you|bye|goodbye"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|はじめまして|ありがとう(?:ございます)?|さようなら|やあ"
    r"|你好|您好|早上好|晚上好|谢谢|再见)(?: there)?\W*\Z",
    re.IGNORECASE,
)


def is_greeting(text: str) -> bool:
    """Tell whether a text only greets: no document holds an answer to that."""
    return bool(_GREETING.match(text[:200]))
