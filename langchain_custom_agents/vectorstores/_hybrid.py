"""Keywords beside vectors: how a text becomes words, and how two rankings become one."""

import re
import unicodedata
from collections.abc import Mapping

__all__ = ["fuse", "query_words", "terms", "usual_weight"]

# Runs of scripts written without spaces are indexed as pairs of neighbouring characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}_]+")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_STOP_WORDS = """
    a about an and are as at be been by can could did do does for from had has have he her him his
    how i if in into is it its me my no not of on or our she so than that the their them then there
    these they this to us was we were what when where which who whom whose why will with would you
    your
"""
_STOP_EXPRESSIONS = """
    です ます でした ました ません ですか ますか でしょうか だろう である ください する した
    して しない される された なる なった いる いた ある あった ない という といった これ それ
    あれ この その あの どの どう どこ どれ なぜ いつ だれ どんな どのように どうやって
    について として による によって とは には では のは のが のを のに にも でも ても から
    まで より など だけ ため もの こと よう ような できる できます とき なら すれば たい
"""


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


_STOP = frozenset(
    [*_STOP_WORDS.split(), *(pair for run in _STOP_EXPRESSIONS.split() for pair in _pairs(run))]
)


def terms(text: str) -> str:
    """Return a text as the words it is found by, separated by spaces.

    Japanese, Chinese, Korean, Thai and the like are cut into overlapping pairs of characters,
    which needs no dictionary and measured best (docs/faiss-store.md). What this returns is part
    of the folder format: a document is taken out of the full-text index by the same words.

    Example:
        >>> terms("The cat, 東京都")
        'the cat 東京 京都 都'
    """
    if text.isascii():
        return text.replace("\0", " ")  # which SQLite's tokenizer cuts as we would
    return " ".join(
        piece
        for run in _TOKEN.findall(_plain(text))
        for piece in ([*_pairs(run), run[-1]] if _UNSPACED_RUN.match(run) else [run])
    )


def query_words(query: str) -> list[str]:
    """Return the words of a query, each as an FTS5 expression.

    Words that stand in nearly every sentence are left out unless there are no others: at a
    million documents they cost 25 times the rest and say nothing.

    Example:
        >>> query_words("What is the cat's name?"), query_words("猫の名前は何ですか")
        (['"cat"', '"name"'], ['"猫の"', '"の名"', '"名前"', '"前は"', '"は何"', '"何で"'])
    """
    found: list[str] = []
    for run in _TOKEN.findall(_POSSESSIVE.sub(" ", _plain(query))):
        if not _UNSPACED_RUN.match(run):
            found.append(run)
        elif len(run) > 1:
            found.extend(_pairs(run))
        else:
            # Wherever the character stands in a text, it begins one of the text's pieces.
            found.append(run + "*")
    telling = [word for word in found if word not in _STOP] or found
    return [
        f'"{word[:-1]}"*' if word.endswith("*") else f'"{word}"' for word in dict.fromkeys(telling)
    ]


def usual_weight(query: str) -> float:
    """Return how much the keywords count for a query where nobody says.

    Most models were made for English and the like; where words are cut into pairs of characters
    the keywords count more, since nobody knows whether the model fits (measured in
    docs/faiss-store.md).

    Example:
        >>> usual_weight("What is a cat?"), usual_weight("猫とは何ですか?")
        (0.3, 0.6)
    """
    return 0.6 if _UNSPACED_RUN.search(query) else 0.3


def fuse(
    dense: Mapping[int, float], keyword: Mapping[int, float], weight: float
) -> list[tuple[int, float]]:
    """Join two rankings by score, best first.

    Each ranking's scores are stretched to [0, 1] first (a row that one of them does not know gets
    0 there), then added: `weight` on the keywords, the rest on the vectors.

    Example:
        >>> fuse({1: 0.9, 2: 0.5}, {2: 7.0}, weight=0.5)
        [(1, 0.5), (2, 0.5)]
    """
    dense, keyword = _stretched(dense), _stretched(keyword, floor=0.0)
    rows = dict.fromkeys([*dense, *keyword])
    scores = {
        row: (1.0 - weight) * dense.get(row, 0.0) + weight * keyword.get(row, 0.0) for row in rows
    }
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _stretched(scores: Mapping[int, float], floor: float | None = None) -> dict[int, float]:
    if not scores:
        return {}
    low = min(scores.values()) if floor is None else floor
    width = max(scores.values()) - low
    return {row: (score - low) / width if width > 0 else 1.0 for row, score in scores.items()}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
