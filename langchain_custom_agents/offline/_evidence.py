"""What has been read so far, and what it says to a question."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from langchain_custom_agents.offline._questions import Question
from langchain_custom_agents.offline._words import (
    COMMON,
    INVERSE,
    MARRIAGE,
    NUMBER_WORDS,
    OCCUPATIONS,
    OCCUPATIONS_UNSPACED,
    UNSPACED,
    alike,
    fold,
    group_of,
    group_words,
    groups,
    stem,
    terms_of,
    word_set,
    words,
)
from langchain_custom_agents.tools._passages import sentences

# A sentence this good is the answer; one that is at least `ENOUGH` is, when nothing is left to try.
SURE = 0.74
ENOUGH = 0.56

_MOST_LETTERS = 200_000
_NUMBERING = re.compile(
    r"\A(?:\[\d{1,3}\] ?|\(Result \d+ ?/ ?\d+\) ?|Context(?: \([^)]*\))?: ?"
    r"|(?:文脈|コンテキスト|上下文)[:：] ?|…){1,3}"
)
_NOT_PROSE = re.compile(r"\A(?:Sections|Related pages): ")
_ITEM = re.compile(r"(?:[-*+•·]|\(?\d{1,2}[.)]|\(?[a-z]\))\s")
_WRAPPED = 55  # letters; no text wraps its lines earlier
_LONGEST = 120  # a longer line was not wrapped by hand
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]」』*_`]*(?:\[\d+\])*\Z")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|must|will|does|do|did)\b", re.IGNORECASE
)
_TITLE_LINE = re.compile(r'\APage "(.{1,200})":\Z')


@dataclass(frozen=True)
class Sentence:
    """A sentence, and what surrounds it.

    Args:
        text: The sentence.
        paragraph: The words of the paragraph it stands in.
        subject: What the page is about, as far as that is known.
        first: Whether it opens its page or passage.
        whole: Whether it ends like a sentence, where sentences do: a heading does not.
    """

    text: str
    paragraph: frozenset[str]
    subject: str = ""
    first: bool = False
    whole: bool = True

    @cached_property
    def folded(self) -> str:
        """The sentence in a form that can be compared."""
        return fold(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words."""
        return frozenset(words(self.text))


class Evidence:
    """The sentences of all that was read.

    Args:
        readings: What was read, each with what the page is about ("" if that is not known).

    Example:
        >>> read = Evidence([("", "hiroko's father is takuma"), ("", "takuma is a teacher")])
        >>> read.follow("hiroko", "father")
        'takuma'
    """

    def __init__(self, readings: Iterable[tuple[str, str]]) -> None:
        found: dict[tuple[str, str], Sentence] = {}
        for subject, text in readings:
            for sentence in _sentences(subject, text[:_MOST_LETTERS]):
                found.setdefault((sentence.text, sentence.subject), sentence)
        self.sentences = list(found.values())

    # -- following a relation -------------------------------------------------------------------

    def follow(self, entity: str, relation: str) -> str:
        """Find who or what stands in a relation to an entity.

        Args:
            entity: "hiroko".
            relation: "father".

        Returns:
            The other's name; "" if it was not read.
        """
        for pattern, own in _relation_patterns(entity, relation, self.vocabulary):
            for sentence in self.sentences:
                if own and not self._is_about(sentence, entity):
                    continue
                for found in pattern.finditer(sentence.text[:2_000]):
                    name = _as_name(found["name"])
                    if name and fold(name) not in fold(entity) and fold(entity) not in fold(name):
                        return name
        return ""

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that was read."""
        return frozenset().union(*(sentence.words for sentence in self.sentences))

    @staticmethod
    def _is_about(sentence: Sentence, entity: str) -> bool:
        name = fold(entity)
        return (
            name in sentence.folded
            or (bool(sentence.subject) and _same_name(sentence.subject, entity))
            or all(word in sentence.paragraph for word in words(entity))
        )

    # -- choosing a sentence --------------------------------------------------------------------

    def best(self, question: Question) -> tuple[Sentence, float] | None:
        """Find the sentence that answers a question best, and how well it does (0 to 1)."""
        scored = self.ranked(question)
        return scored[0] if scored else None

    def ranked(self, question: Question) -> list[tuple[Sentence, float]]:
        """Return the sentences that may answer a question, the best first."""
        weights = self._weights(question)
        found = []
        for order, sentence in enumerate(self.sentences):
            score = self._score(sentence, question, weights)
            if score > 0:
                found.append((-score, order, sentence))
        found.sort(key=lambda item: item[:2])
        return [(sentence, -score) for score, _, sentence in found]

    def _weights(self, question: Question) -> dict[str, float]:
        """Weigh the words of a question: those that few sentences hold tell most."""
        total = max(len(self.sentences), 1)
        weights = {}
        for term in question.terms:
            holding = sum(1 for sentence in self.sentences if _match(term, sentence) > 0)
            weights[term] = (0.6 + 0.4 * (1 - holding / total)) * _plainness(term)
        return weights

    def _score(self, sentence: Sentence, question: Question, weights: dict[str, float]) -> float:
        named, about = question.named, 1.0
        if named:
            about = self._names(sentence, question)
            if about == 0.0:
                return 0.0
        fits = _fits(sentence, question)
        if fits is None:
            return 0.0
        if weights:
            held = {term: _match(term, sentence) for term in weights}
            if question.kind == "person" and fits >= 1.0:
                for term in weights:
                    if "author" in groups(term) and _BY.search(sentence.text):
                        held[term] = 0.9
            near = {
                term: 0.5
                for term in weights
                if not held[term] and _in_paragraph(term, sentence.paragraph)
            }
            covered = sum(w * max(held[t], near.get(t, 0.0)) for t, w in weights.items())
            share = covered / sum(weights.values())
            asked = question.kind in ("occupation", "age")
            if not any(held.values()) and not asked and question.kind != "definition":
                return 0.0
            if asked and fits > 0:
                # "is a teacher" answers for "occupation" without the word.
                typed = {"occupation", "age", "birthday"}
                other = [t for t in weights if group_of(t) not in typed and t not in _TYPE_WORDS]
                missing = sum(weights[t] for t in other if not held[t])
                share = max(share, 1.0 - missing / sum(weights.values()))
        else:
            share = 1.0 if fits > 0 or question.kind == "thing" else 0.6
        score = 0.9 * share * (0.7 + 0.3 * about) + 0.1 * min(max(fits, 0.0), 1.0)
        if fits < 0:
            score *= 0.8
        # Headings, fragments and endless sentences make poor answers.
        length = len(sentence.text)
        if length < 12 and not UNSPACED.search(sentence.text):
            score *= 0.7
        elif length > 500:
            score *= 0.92
        if not sentence.whole or sentence.text.endswith((":", "：")):
            score *= 0.6
        if sentence.first:
            score = min(1.0, score * 1.02)
        if sentence.text.rstrip().endswith("?"):
            score *= 0.5
        return min(score, 1.0)

    def _names(self, sentence: Sentence, question: Question) -> float:
        """Say how surely a sentence is about the entity: 1 it names it, 0 it does not."""
        share = sum(_match(term, sentence) > 0.5 for term in question.named) / len(question.named)
        if share >= 0.5:
            return 1.0 if share == 1.0 else 0.8
        # A sentence that opens with another name is about another.
        opening = words(sentence.text[:40])[:1]
        goes_on = UNSPACED.search(sentence.text) or not opening or opening[0] in COMMON
        personal = question.kind in ("age", "occupation")
        if sentence.subject and _same_name(sentence.subject, question.start):
            return 0.9 if goes_on else 0.0 if personal else 0.8
        nearby = sum(_in_paragraph(term, sentence.paragraph) for term in question.named)
        return 0.5 if nearby == len(question.named) and goes_on else 0.0


_TYPE_WORDS = word_set("old age living years year occupation job work")


def _sentences(subject: str, text: str) -> Iterator[Sentence]:
    found: list[Sentence] = []
    first = True
    for block in _paragraphs(text):
        if titled := _TITLE_LINE.match(block):
            subject, first = titled[1], True
            continue
        if _NOT_PROSE.match(block):
            continue
        first = first or block.startswith("[")
        paragraph = _NUMBERING.sub("", block)
        around = frozenset(words(paragraph)) | frozenset(words(subject))
        for sentence in sentences(paragraph):
            if re.search(r"\w", sentence):
                line = " ".join(sentence.split())
                whole = bool(_ENDED.search(line) or _VERB.search(line))
                found.append(Sentence(line, around, subject, first, whole))
                first = False
    # Notes of a few words each do without full stops, and are whole all the same.
    stopped = sum(sentence.whole for sentence in found) * 3 >= len(found)
    return iter(found if stopped else [replace(sentence, whole=True) for sentence in found])


def _paragraphs(text: str) -> Iterator[str]:
    """Join lines that were wrapped by hand; a short line stands alone."""
    open_lines: list[str] = []
    lines = [line.strip() for line in text.splitlines()] or [""]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line:
            open_lines.append(line)
        wrapped = (
            following
            and not line.endswith((":", "："))  # which introduces what follows
            and max(len(line), len(following)) <= _LONGEST
            and len(line) + len(following.split()[0]) >= _WRAPPED
        )
        if open_lines and (not wrapped or _NUMBERING.match(following) or _ITEM.match(following)):
            yield " ".join(open_lines)
            open_lines = []


def _same_name(one: str, other: str) -> bool:
    first, second = set(words(one)), set(words(other))
    if not first or not second:
        return False
    fewer, more = sorted((first, second), key=len)
    return all(any(alike(word, known) >= 0.8 for known in more) for word in fewer)


def _match(term: str, sentence: Sentence) -> float:
    """Say how far a sentence holds a word."""
    if UNSPACED.search(term):
        return _match_unspaced(term, sentence.folded)
    if term in sentence.words:
        return 1.0
    return max(
        (alike(term, word) for word in sentence.words if word[:1] == term[:1]), default=0.0
    ) or max(
        (0.9 for name in groups(term) for word in group_words(name) if word in sentence.words),
        default=0.0,
    )


def _match_unspaced(term: str, folded: str) -> float:
    if term in folded:
        return 1.0
    for name in groups(term):
        if any(word in folded for word in group_words(name) if UNSPACED.search(word)):
            return 0.9
    if len(term) < 3:
        return 0.0
    pairs = [term[i : i + 2] for i in range(len(term) - 1)]
    share = sum(pair in folded for pair in pairs) / len(pairs)
    return share * 0.9 if share >= 0.5 else 0.0


def _in_paragraph(term: str, paragraph: frozenset[str]) -> bool:
    if UNSPACED.search(term):
        return any(term in word for word in paragraph)
    return term in paragraph or any(
        stem(term) == stem(word) for word in paragraph if word[:2] == term[:2]
    )


def _plainness(term: str) -> float:
    """Give less weight to words that only say what kind of answer is asked for."""
    return 0.5 if term in _TYPE_WORDS or term in _VAGUE else 1.0


_VAGUE = word_set(
    "kind type sort way ways purpose default example result value number name main different "
    "possible following given time times word words"
)


# -- the kind of answer ---------------------------------------------------------------------------

_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万]")
_DATE = re.compile(
    r"\b\d{3,4}\b|\d年|\d月|\d世紀|\d世纪|century|\b(?:january|february|march|"
    r"april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|[月火水木金土日]曜|星期"
    r"|\bwhen\b|\bafter\b|\bbefore\b|\bif\b|\bonce\b|\buntil\b|\bas soon as\b"
)
_AGE = re.compile(r"\d+\s*(?:-?\s*years?|歳|才|岁)|\bborn\b|生まれ|出生|\baged? \d")
_PLACE = re.compile(r"\b(?:in|at|from|near|on|to|under)\b|に住|で働|にあり|にある|在|位于|住")
_REASON = re.compile(
    r"\b(?:because|since|so that|in order to|therefore|reason|due to|as a result|to avoid|for)\b"
    r"|ため|から|因为|由于"
)
_BY = re.compile(r"\b[Bb]y [A-Z]")
_BEING = re.compile(r"\b(?:is|are|was|were)\b (?:\w+ ){0,2}?(?:an?|the)\b|\bis\b|\bare\b")


def _fits(sentence: Sentence, question: Question) -> float | None:
    """Say whether a sentence holds an answer of the kind asked for.

    Returns:
        More than 0 if it does, less if that is doubtful, None if it cannot.
    """
    folded, kind = sentence.folded, question.kind
    if kind == "age":
        return 1.0 if _AGE.search(folded) else None
    if kind == "number":
        return 1.0 if _DIGIT.search(folded) or sentence.words & NUMBER_WORDS else -0.5
    if kind == "time":
        return 1.0 if _DATE.search(folded) else -1.0
    if kind == "place":
        return 1.0 if _PLACE.search(folded) else -0.5
    if kind == "reason":
        return 1.0 if _REASON.search(folded) else -0.2
    if kind == "person":
        own = set(words(question.text))
        others = [w for w in re.findall(r"\b[A-Z][\w'-]+", sentence.text) if fold(w) not in own]
        return 1.0 if others or not re.search(r"[A-Z]", sentence.text) else 0.0
    if kind == "occupation":
        return _says_occupation(sentence, question)
    if kind == "definition":
        return _defines(sentence, question)
    return 0.0


def _says_occupation(sentence: Sentence, question: Question) -> float | None:
    known = sentence.words & OCCUPATIONS or OCCUPATIONS_UNSPACED.search(sentence.folded)
    work = any("occupation" in groups(word) for word in sentence.words) or re.search(
        r"仕事|職業|职业|工作|働", sentence.folded
    )
    is_a = _opens_with(sentence, question) and re.search(
        r"\b(?:is|was)\b[^.]{0,40}? an?\b|works as|は.+(?:です|だ。)|是.*(?:家|师|生|员|者|人)",
        sentence.folded,
    )
    if is_a and known:
        return 1.0
    if known and (_opens_with(sentence, question) or work):
        return 0.8
    if is_a or work:
        return 0.6
    return 0.1 if known and sentence.subject else None


def _defines(sentence: Sentence, question: Question) -> float:
    if _opens_with(sentence, question) and (
        _BEING.search(sentence.folded[:160])
        or re.search(r"とは|は.+(?:です|だ|である)|是", sentence.folded)
    ):
        return 1.2
    return 0.4 if _opens_with(sentence, question) else 0.0


def _opens_with(sentence: Sentence, question: Question) -> bool:
    """Tell whether a sentence begins with the entity: then it is probably about it."""
    begin = sentence.folded[:60]
    names = question.named or question.terms
    if UNSPACED.search(begin):
        return any(
            re.match(rf"\W*{re.escape(n)}[^の的\W]{{0,3}}(?:は|が|是|今年|也|、|,|\W)", begin)
            for n in names
        )
    opening = words(begin)[:4]
    if any(alike(name, word) >= 0.8 for name in names for word in opening):
        return True
    pronoun = opening[:1] and opening[0] in ("he", "she", "it", "they", "this")
    return bool(pronoun and sentence.subject and _same_name(sentence.subject, question.start))


# -- relations ------------------------------------------------------------------------------------

_CAPITAL = (
    r"(?P<name>(?!(?:The|A|An|He|She|It|They|His|Her|Its|In|On|At|And|But|As|When)\b)"
    r"[A-Z][\w.’'\-]*(?:,? (?:(?:of|de|van|von|la|del|di|bin|al|the) )?"
    r"(?!And\b)[A-Z][\w’'\-]*\.?){0,5})"
)
_ANY = r"(?P<name>[^\W\d_][\w\-]*(?: [^\W\d_][\w\-]*){0,3})"
_BREAKS = word_set(
    "and or who which that but in from since while with for as is was are were he she they of "
    "at on to by when"
)
_AGENTS = {
    "founder": "(?:co-?)?founded|established|started",
    "author": "written|authored",
    "director": "directed",
    "creator": "created|designed|developed",
    "inventor": "invented",
    "owner": "owned",
    "teacher": "taught",
}


def _relation_patterns(
    entity: str, relation: str, vocabulary: frozenset[str]
) -> Iterator[tuple[re.Pattern[str], bool]]:
    """List how texts say a relation, the surest first; True if the entity may be a pronoun."""
    if UNSPACED.search(relation):
        yield from ((p, own) for p, own in _patterns_unspaced(entity, relation))
        return
    said = _alternatives(relation, vocabulary)
    group = group_of(terms_of(relation, "en")[-1] if terms_of(relation, "en") else relation)
    inverse = "|".join(
        re.escape(w) for name in INVERSE.get(group, ()) for w in group_words(name) if w.isascii()
    )
    parts = [re.escape(part) for part in entity.split()]
    name = "|".join(
        dict.fromkeys([r"\s+".join(parts), *(p for p in (parts[-1], parts[0]) if len(p) > 2)])
    )
    one, his = f"(?i:{name})", "(?i:his|her|its|their)"
    are = (
        r"(?i:(?: (?:is|was|are|were|named|called|being)|:|,){1,2}(?: (?:named|called|the)(?= ))?)"
    )
    some = r"(?i:(?:an?|the|his|her|its) )?"
    for value in (_CAPITAL, _ANY):
        shapes = [
            (rf"\b{one}['’]s? (?:\w+ )?(?i:{said})(?: (?i:of \w+))?{are} {value}", False),
            (rf"\b(?i:{said}) (?i:of) (?i:the )?{one}{are} {value}", False),
            (rf"\b{value},? (?i:is|was|,|as) {some}{one}['’]s? (?i:{said})\b", False),
            (rf"\b{value},? (?i:is|was) {some}(?:\w+ )?(?i:{said}) (?i:of) (?i:the )?{one}", False),
            (rf"\b{his} (?:\w+ )?(?i:{said}){are} {value}", True),
        ]
        if value is _CAPITAL:
            shapes += [
                (rf"\b{one}['’]s? (?:\w+ )?(?i:{said}) {value}", False),
                (rf"\b{his} (?:\w+ )?(?i:{said}) {value}", True),
            ]
        if group in MARRIAGE:
            shapes += [
                (rf"\b(?i:married(?: to)?|wed) (?:(?i:future|his|her|to) ?(?:\w+ )?)?{value}", True)
            ]
        if inverse:
            shapes += [
                (rf"\b(?i:{inverse}) (?i:of|to) {value}", True),
                (
                    rf"\b{value}['’]s? (?:\w+ )?(?i:{inverse})\b(?i:,? (?:is|was|named)? ?{one})",
                    False,
                ),
            ]
        if done := _AGENTS.get(group) or _done(relation):
            shapes += [
                (rf"\b(?i:{done})(?: [\w ,]{{1,30}}?)? (?i:by) {value}", True),
                (rf"\b{value} (?i:(?:\w+ )?(?:{done}|wrote)) (?i:the )?{one}", False),
            ]
        shapes += [(rf"\A\W*(?i:{said})(?i: is| was|:) {value}", True)]
        if value is _CAPITAL:
            shapes += [(rf"\b(?i:the {said})(?i: is| was|:) {value}", True)]
        for shape, own in shapes:
            yield re.compile(shape), own


def _done(relation: str) -> str:
    """Guess what somebody does from what they are called: a maintainer maintains."""
    found = re.match(r"([a-z]{4,})(?:er|or)\Z", fold(relation))
    return f"{found[1]}e?d" if found else ""


def _alternatives(relation: str, vocabulary: frozenset[str]) -> str:
    """Return a pattern for a relation's word and those that answer for it, as they were read."""
    phrase = fold(relation)
    head = (words(relation) or [phrase])[-1]
    near = [
        w for w in sorted(vocabulary) if w.isascii() and w not in COMMON and alike(head, w) >= 0.8
    ]
    exact = [w for w in near if alike(head, w) >= 0.9]
    found = dict.fromkeys([phrase, *(exact or near)])
    return "|".join(re.escape(word) for word in found)


def _as_name(found: str) -> str:
    """Cut what follows a name off it; "" if it is no name."""
    kept: list[str] = []
    for word in found.replace("’", "'").split():
        if kept and not word[0].isupper() and word.lower() in _BREAKS - {"of"}:
            break
        if not kept and word.lower() in ("a", "an", "not", "also", "the", *_BREAKS):
            if word.lower() == "the":
                continue
            return ""
        kept.append(word)
    if kept and not kept[0][0].isupper():
        kept = _until_break(kept)
    name = re.sub(r"'s?\Z", "", " ".join(kept).strip(" ,.;:"))
    return "" if fold(name) in COMMON else name


def _until_break(kept: list[str]) -> list[str]:
    for at, word in enumerate(kept):
        if word in COMMON and at:
            return kept[:at]
    return kept


def _patterns_unspaced(entity: str, relation: str) -> Iterator[tuple[re.Pattern[str], bool]]:
    group = group_of(relation)
    said = "|".join(
        re.escape(word)
        for word in sorted(
            {relation, *(w for g in groups(relation) for w in group_words(g))},
            key=len,
            reverse=True,
        )
        if UNSPACED.search(word)
    )
    inverse = "|".join(
        re.escape(word)
        for name in INVERSE.get(group, ())
        for word in group_words(name)
        if UNSPACED.search(word)
    )
    one, title = re.escape(entity), "(?:さん|ちゃん|くん|君|氏|様)?"
    name = r"(?P<name>[^\s、。,.「」『』:：]{1,20}?)"
    stops = (
        r"(?:です|でした|だった|だ|である|であり|という|と(?:いい|言い|いう)|で、"
        r"|[、。,.「」;；]|\s|\Z)"
    )
    ends, named = title + stops, "(?:の名前|的名字)?(?:は|が|是|叫做?|为|名叫|[:：、])"
    yield (
        re.compile(rf"{one}{title}(?:の|的)?(?:{said}){named}「?{name}{ends}"),
        False,
    )
    yield (
        re.compile(
            rf"(?:\A|[。、,，\s]){name}{title}(?:は|が|是)、?{one}{title}(?:の|的)?(?:{said})"
        ),
        False,
    )
    yield (
        re.compile(rf"(?:{said})(?:の名前|的名字)?(?:は|が|是|叫做?|为|名叫|[:：])「?{name}{ends}"),
        True,
    )
    if inverse:
        yield re.compile(rf"(?:は|是|が)、?{name}{title}(?:の|的)(?:{inverse})"), True
    if group in MARRIAGE:
        yield re.compile(rf"(?:は|、|与|和){name}{title}(?:と結婚|结婚)"), True
