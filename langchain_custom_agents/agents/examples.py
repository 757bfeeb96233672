"""Few-shot examples, as data: a dialect writes them, so they speak its language."""

from langchain_custom_agents.agents.prompt import Example
from langchain_custom_agents.dialects import Action, Answer, Dialect
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_JAPANESE

_DOCSTORE_ENGLISH: tuple[Example, ...] = (
    (
        "In which country was the composer of The Four Seasons born?",
        (
            (
                "I need to find who composed The Four Seasons, then where that person was born.",
                Action("Search", "The Four Seasons (Vivaldi)"),
                "The Four Seasons is a group of four violin concertos by Antonio Vivaldi.",
            ),
            (
                "It was composed by Antonio Vivaldi. I need to find where he was born.",
                Action("Search", "Antonio Vivaldi"),
                "Antonio Lucio Vivaldi was an Italian composer and virtuoso violinist.",
            ),
            (
                "That does not say where he was born. I look for it on this page.",
                Action("Lookup", "born"),
                "(Result 1/4) Antonio Vivaldi was born on 4 March 1678 in Venice.",
            ),
            ("He was born in Venice, which is in Italy.", Answer("Italy"), None),
        ),
    ),
    (
        "Which is longer, the Loire or the Rhône?",
        (
            (
                "I need the length of both rivers. I begin with the Loire.",
                Action("Search", "Loire"),
                "The Loire is the longest river in France. Its length is 1,006 km.",
            ),
            (
                "The Loire is 1,006 km long. Now the Rhône.",
                Action("Search", "Rhône"),
                "The Rhône is a major river in France and Switzerland. Its length is 813 km.",
            ),
            ("1,006 km is more than 813 km.", Answer("the Loire"), None),
        ),
    ),
)

_DOCSTORE_JAPANESE: tuple[Example, ...] = (
    (
        "『四季』を作曲した人はどの国で生まれましたか?",
        (
            (
                "まず『四季』の作曲者を調べ、次にその人の生まれた所を調べる。",
                Action("Search", "四季 (ヴィヴァルディ)"),
                "『四季』は、イタリアの作曲家アントニオ・ヴィヴァルディによる四つのヴァイオリン協奏曲である。",
            ),
            (
                "作曲者はアントニオ・ヴィヴァルディ。生まれた所を調べる。",
                Action("Search", "アントニオ・ヴィヴァルディ"),
                "アントニオ・ヴィヴァルディは、イタリアの作曲家、ヴァイオリニストである。",
            ),
            (
                "生まれた所が書かれていない。このページの中を探す。",
                Action("Lookup", "生まれ"),
                "(Result 1/2) 1678年3月4日、ヴェネツィアに生まれた。",
            ),
            ("ヴェネツィアはイタリアにある。", Answer("イタリア"), None),
        ),
    ),
)

_DOCSTORE_CHINESE: tuple[Example, ...] = (
    (
        "《四季》的作曲家出生在哪个国家?",
        (
            (
                "先查《四季》的作曲家,再查他出生在哪里。",
                Action("Search", "四季 (维瓦尔第)"),
                "《四季》是意大利作曲家安东尼奥·维瓦尔第创作的四首小提琴协奏曲。",
            ),
            (
                "作曲家是安东尼奥·维瓦尔第。查他的出生地。",
                Action("Search", "安东尼奥·维瓦尔第"),
                "安东尼奥·维瓦尔第是意大利作曲家和小提琴家。",
            ),
            (
                "没有写出生地,在这一页里查找。",
                Action("Lookup", "出生"),
                "(Result 1/2) 1678年3月4日出生于威尼斯。",
            ),
            ("威尼斯在意大利。", Answer("意大利"), None),
        ),
    ),
)

SELF_ASK: tuple[Example, ...] = (
    (
        "Was the composer of The Four Seasons born before the composer of The Creation?",
        (
            (
                "Yes.",
                Action(
                    "Intermediate Answer",
                    "Who composed The Four Seasons, and when was that person born?",
                ),
                "The Four Seasons was composed by Antonio Vivaldi, born in 1678.",
            ),
            (
                "Yes.",
                Action(
                    "Intermediate Answer",
                    "Who composed The Creation, and when was that person born?",
                ),
                "The Creation was composed by Joseph Haydn, born in 1732.",
            ),
            ("No.", Answer("Yes"), None),
        ),
    ),
)


def docstore_examples(dialect: Dialect) -> tuple[Example, ...]:
    """Return examples of Search and Lookup in the language of a dialect."""
    if dialect.phrases is IN_JAPANESE:
        return _DOCSTORE_JAPANESE
    return _DOCSTORE_CHINESE if dialect.phrases is IN_CHINESE else _DOCSTORE_ENGLISH
