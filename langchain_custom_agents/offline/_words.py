"""Words for the extractive stand-in: how they are cut, compared, and what little it knows of them.

A language model has learned what words mean; this is a list, and it is short on purpose.
"""

import difflib
import re
import unicodedata
from functools import lru_cache

# Scripts written without spaces: Thai to Khmer, kana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
)
UNSPACED = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?=\s)")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


# What is never what a question is about.
COMMON = word_set("""
    a about an and any are as at be been being both but by can could did do does done each either
    every for from get gets got had has have having he her here him his how i if in into is it its
    itself just kind let like made make makes many may me might more most much must my no not of
    off on one or our out own please say said says shall she should so some sort such tell than
    that the their them then there these they this those thing things to too under until up upon
    us use used using very was we were what when where whether which while who whom whose why will
    with within without would yes you your according called mean means exactly happen happens
    """)

# Question words and endings of scripts without spaces, longest first; each is a border.
_BORDERS_JA = re.compile(
    r"(?:[しんっい][てで](?:いますか|います|いる)|について|に関する|教えて|ください|下さい|でしょうか|ですか|ますか|でしたか|ましたか|なのか|のか"
    r"|ています|ている|という|といえば|いくつ|いくら|どこ|だれ|いつ|どの|どれ|どんな|どう|なに|なん|なぜ"
    r"|何歳|何年|何人|何個|何日|何|誰|です|ます|した|して|する|から|まで|さん|ちゃん|くん"
    r"|[はがをにへともでのやか、。?!・「」『』])"
)
_BORDERS_ZH = re.compile(
    r"(?:什么时候|为什么|什么|怎么样|怎么|怎样|哪里|哪儿|哪个|哪些|哪一|哪|多少|多大|几岁|几个|几|谁|请问"
    r"|告诉我|是否|可以|多久|多长|[的是了吗呢吧在和与有做叫、。,?!])"
)

# Words that answer for one another. The first of a line names the group.
_GROUPS = tuple(
    tuple(line.split())
    for line in """
    father dad daddy papa 父 父親 お父さん 父亲 爸爸
    mother mum mom mama 母 母親 お母さん 母亲 妈妈
    wife 妻 奥さん 奥様 妻子 太太 夫人
    husband 夫 旦那 ご主人 丈夫 先生
    spouse partner 配偶者 配偶
    son 息子 儿子
    daughter 娘 女儿
    child children kid kids 子供 子ども 孩子
    brother 兄 弟 兄弟 哥哥 弟弟
    sister 姉 妹 姉妹 姐姐 妹妹
    parent parents 親 両親 父母
    grandfather grandpa 祖父 おじいさん 爷爷
    grandmother grandma 祖母 おばあさん 奶奶
    uncle おじ 叔叔
    aunt おば 阿姨
    friend 友達 友人 朋友
    teacher 教師 老师
    student pupil 生徒 学生
    boss manager chief 上司 老板
    occupation job profession career work works working living employed 職業 仕事 职业 工作
    age old aged 年齢 歳 才 年龄 岁
    birthday birth born 誕生日 生日 出生 生まれ
    home live lives lived living reside resides address 住所 住む 住んで 住 地址
    name named 名前 名 名字
    price cost costs fee amount charge 値段 価格 料金 金額 价格 费用
    founder founded found established 創業者 創立者 設立 创始人 创立
    author writer wrote written 著者 作者
    director directed 監督 导演
    creator created create 作成者
    inventor invented invent 発明者 发明者
    capital 首都
    owner owned owns 所有者 主人
    color colour 色 颜色
    license licence ライセンス 许可证
    begin start begins starts beginning 始まる 开始
    end finish ends stop stops 終わる 结束
    big large bigger larger 大きい 大
    fast quick quickly speed
    allow permit allows permits allowed permitted
    require need requires needs required must
    forbid prohibit forbidden prohibited
    delete remove deletes removes removed deleted
    show display shows displays
    """.strip().splitlines()
)
_GROUP_OF: dict[str, set[str]] = {}
for _group in _GROUPS:
    for _word in _group:
        _GROUP_OF.setdefault(_word, set()).add(_group[0])

# If X is the R of Y, then Y is one of these of X.
INVERSE = {
    "father": ("son", "daughter", "child"),
    "mother": ("son", "daughter", "child"),
    "parent": ("son", "daughter", "child"),
    "son": ("father", "mother", "parent"),
    "daughter": ("father", "mother", "parent"),
    "child": ("father", "mother", "parent"),
    "wife": ("husband", "spouse"),
    "husband": ("wife", "spouse"),
    "spouse": ("wife", "husband", "spouse"),
    "brother": ("brother", "sister"),
    "sister": ("sister", "brother"),
    "friend": ("friend",),
    "teacher": ("student",),
    "student": ("teacher",),
}
MARRIAGE = frozenset({"wife", "husband", "spouse"})

# What people are: a sentence with one of these says what somebody does.
OCCUPATIONS = word_set("""
    teacher doctor nurse lawyer engineer scientist artist writer author actor actress singer farmer
    chef cook pilot president politician diplomat senator governor minister attorney judge soldier
    officer driver fisherman carpenter programmer developer designer painter musician composer
    poet novelist journalist professor lecturer researcher physicist chemist biologist
    mathematician historian philosopher architect photographer dancer athlete player coach
    businessman businesswoman entrepreneur accountant clerk student baker butcher barber dentist
    surgeon veterinarian librarian translator monk priest director producer screenwriter
    secretary manager merchant banker economist astronaut astronomer explorer sailor
    """)
OCCUPATIONS_UNSPACED = re.compile(
    r"教師|教员|教員|先生|医者|医師|医生|弁護士|律师|会社員|看護師|护士|老师|教授|作家|歌手|画家|俳優|演员"
    r"|農家|農民|农民|政治家|学者|科学者|科学家|記者|记者|警察|運転手|司机|工程师|エンジニア|技術者|漁師|渔夫"
    r"|料理人|厨师|シェフ|パン屋|職人|社長|店員|公務員|学生|大工|音楽家|写真家|パイロット|デザイナー|商人"
)

NUMBER_WORDS = word_set("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion dozen half third quarter once twice thrice first second
    single double
    """)


def fold(text: str) -> str:
    """Make text comparable: one Unicode form, no case, straight quotes."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def language_of(text: str, default: str = "en") -> str:
    """Tell Japanese ("ja") and Chinese ("zh") from all else ("en")."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\u3400-\u9fff]", text):
        return default if default in ("ja", "zh") else "zh"
    return "en"


def words(text: str) -> list[str]:
    """Cut a text into words; a run of a script without spaces stays one word."""
    return _WORD.findall(_POSSESSIVE.sub(" ", fold(text)))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Take the commonest English endings off a word."""
    if not word.isascii() or len(word) < 4:
        return word
    for ending, rest, least in (
        ("ations", "at", 8), ("ation", "at", 7), ("ating", "at", 7), ("ated", "at", 6),
        ("ates", "at", 6), ("ate", "at", 6), ("ies", "y", 5), ("ied", "y", 5), ("ings", "", 7),
        ("ing", "", 6), ("ments", "", 8), ("ment", "", 8), ("edly", "", 7), ("ed", "", 5),
        ("ly", "", 6), ("sses", "ss", 6), ("xes", "x", 5), ("ches", "ch", 6), ("shes", "sh", 6),
    ):  # fmt: skip
        if len(word) >= least and word.endswith(ending):
            return _bare(word[: -len(ending)] + rest)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _bare(word)


def _bare(word: str) -> str:
    """Take off a final "e" and a doubled letter: "dropp(ed)" is "drop"."""
    word = word.removesuffix("e")
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word


@lru_cache(maxsize=16_384)
def groups(word: str) -> frozenset[str]:
    """Return the groups of words that answer for one another that this word is in."""
    return frozenset(_GROUP_OF.get(word, ()))


def group_words(group: str) -> tuple[str, ...]:
    """Return the words of a group."""
    return next((members for members in _GROUPS if members[0] == group), (group,))


@lru_cache(maxsize=65_536)
def alike(asked: str, found: str) -> float:
    """Say how far one word answers for another: 1 the same, 0 not at all.

    Example:
        >>> alike("occupations", "occupation"), alike("dad", "father"), alike("cat", "dog")
        (1.0, 0.9, 0.0)
        >>> alike("ocupation", "occupation") > 0.7
        True
    """
    if asked == found or stem(asked) == stem(found):
        return 1.0
    if groups(asked) & groups(found):
        return 0.9
    both_known = groups(asked) and groups(found)
    if len(asked) < 5 or len(found) < 5 or asked[0] != found[0] or both_known:
        return 0.0
    if not asked.isascii() or not found.isascii():
        return 0.0
    if abs(len(asked) - len(found)) > 3:
        return 0.0
    ratio = difflib.SequenceMatcher(None, asked, found, autojunk=False).ratio()
    return 0.8 if ratio >= 0.82 else 0.0


def group_of(word: str) -> str:
    """Return the name of a word's group, a near spelling included; the word's stem if none.

    Example:
        >>> group_of("ocupation"), group_of("dad"), group_of("mascot")
        ('occupation', 'father', 'mascot')
    """
    if known := groups(word):
        return next(name for name in (g[0] for g in _GROUPS) if name in known)
    for members in _GROUPS:
        if any(alike(word, member) >= 0.8 for member in members if len(member) > 4):
            return members[0]
    return stem(word)


def terms_of(text: str, language: str) -> tuple[str, ...]:
    """Return the words a text is about, in order, without those every text is made of.

    Example:
        >>> terms_of("What is Takuma's occupation?", "en")
        ('takuma', 'occupation')
        >>> terms_of("たくまの職業は何ですか?", "ja")
        ('たくま', '職業')
    """
    found: dict[str, None] = {}
    for word in words(text):
        if UNSPACED.match(word):
            borders = _BORDERS_ZH if language == "zh" else _BORDERS_JA
            found.update(dict.fromkeys(part for part in borders.split(word) if part))
        elif word not in COMMON and (len(word) > 1 or word.isdigit() or not word.isascii()):
            found[word] = None
    return tuple(found)
