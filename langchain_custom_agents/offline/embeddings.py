"""Embeddings without a model: hashed words and character n-grams, for trying and testing."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from langchain_core.embeddings import Embeddings

__all__ = ["HashingEmbeddings"]

# Runs of scripts written without spaces are cut into single characters and pairs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
)
_TOKEN = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}_]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_POSSESSIVE = re.compile(r"['\u2019]s\b")

# Words that stand in nearly every sentence say little about any one of them.
_COMMON_WORDS = """
    a an and are as at be been by did do does for from had has have he her him his how i in is it
    its me my of on or our she so that the their them there they this to us was we were what when
    where which who whom whose why will with you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())

# What a model would have learned and hashing cannot: a few everyday questions and how their
# answers are worded. They only tip the balance between texts that share words already.
_KINDRED = {
    "age": "age aged old older oldest year years born birthday 歳 才 年齢",
    "occupation": (
        "occupation job profession career work works working worker employed teacher doctor nurse "
        "lawyer engineer scientist artist writer actor singer farmer chef pilot president "
        "職業 仕事 教師 先生 医者 医師 弁護士 会社員"
    ),
    "place": (
        "place where live lives lived city town country located home address 住所 場所 住む 住んで"
    ),
    "price": "price cost costs amount fee fees total charge charged 金額 値段 価格 料金 合計",
}
_KIN_OF_WORD: dict[str, set[str]] = {}
for _name, _words in _KINDRED.items():
    for _word in _words.split():
        _KIN_OF_WORD.setdefault(_word, set()).add(_name)
_UNSPACED_KIN = {word: names for word, names in _KIN_OF_WORD.items() if not word.isascii()}


class HashingEmbeddings(Embeddings):
    """A stand-in for an embedding model: counts, not understanding.

    Words, parts of words and, in scripts written without spaces, single characters and pairs
    are hashed into a vector of fixed length (the "hashing trick", Weinberger et al. 2009,
    https://arxiv.org/abs/0902.2206). Texts that share words or spelling come out close; texts
    that only share a meaning do not, apart from a handful of everyday question words ("age",
    "occupation"). It needs no download and no key and gives the same vectors in every process
    and on every Python version, which makes it right for trying things out and for tests.
    **It is not a language model: use real embeddings for real work.**

    Texts are lower-cased and NFKC-normalised first; vectors have length 1, and a text without
    a single letter or digit becomes the zero vector.

    Args:
        dimension: The length of the vectors.

    Attributes:
        keyword_weight: How much keywords count beside these vectors in a `FAISSStore`: more than
            beside a model's, since both compare spelling and BM25 does so better (measured in
            `benchmarks/faiss_store/quality.py`).

    Raises:
        ValueError: If `dimension` is not at least 8.

    Example:
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> texts = ["takuma is a teacher", "TAKUMA teaches", "100 yen"]
        >>> a, b, c = HashingEmbeddings().embed_documents(texts)
        >>> dot = lambda x, y: sum(p * q for p, q in zip(x, y))
        >>> dot(a, b) > dot(a, c)
        True
    """

    keyword_weight = 0.6

    def __init__(self, dimension: int = 1024) -> None:
        if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 8:
            msg = f"dimension must be a whole number of at least 8, not {dimension!r}."
            raise ValueError(msg)
        self.dimension = dimension

    @property
    def model(self) -> str:
        """The name that a store writes down to recognise these embeddings again."""
        return f"hashing-1-{self.dimension}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed several texts.

        Args:
            texts: The texts.

        Returns:
            One vector of length 1 per text.

        Raises:
            TypeError: If it is one text, or holds what is no text.

        Example:
            >>> len(HashingEmbeddings(64).embed_documents(["one", "two"])[0])
            64
        """
        if isinstance(texts, str):
            msg = "embed_documents takes a list of texts; embed_query takes one text."
            raise TypeError(msg)
        return [self._embed(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text.

        Args:
            text: The text.

        Returns:
            Its vector, of length 1.

        Example:
            >>> len(HashingEmbeddings(64).embed_query("日本"))
            64
        """
        vector: list[float] = self._embed(text).tolist()
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed several texts (the work is too short to leave the event loop for a few)."""
        if len(texts) <= 4:
            return self.embed_documents(texts)
        return await super().aembed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_query(text)

    def _embed(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        if not isinstance(text, str):
            msg = f"A text is embedded, not {type(text).__name__}: {str(text)[:100]!r}."
            raise TypeError(msg)
        vector = np.zeros(self.dimension, dtype=np.float64)
        for token, count in _tokens(text).items():
            weight = 1.0 + math.log(count)
            for number, value in _features(token):
                vector[number % self.dimension] += weight * value
        length = math.sqrt(float(vector @ vector))
        return (vector / length if length else vector).astype(np.float32)


def _tokens(text: str) -> Counter[str]:
    """Count a text's words, the pieces of its unspaced runs, and the kin it mentions."""
    text = unicodedata.normalize("NFKC", text).casefold()
    tokens: Counter[str] = Counter()
    kin: set[str] = set()
    for run in _TOKEN.findall(_POSSESSIVE.sub(" ", text)):
        if _UNSPACED_START.match(run):
            tokens.update(run)
            tokens.update(run[i : i + 2] for i in range(len(run) - 1))
            kin.update(*(names for word, names in _UNSPACED_KIN.items() if word in run))
        else:
            tokens[run] += 1
            kin |= _KIN_OF_WORD.get(run, set())
    tokens.update(f"\0{name}" for name in kin)
    return tokens


@lru_cache(maxsize=65_536)
def _features(token: str) -> tuple[tuple[int, float], ...]:
    """Return the hashed features of one token as (number, signed weight) pairs."""
    return tuple(
        (hashed >> 1, weight if hashed & 1 else -weight)
        for name, weight in _named_features(token)
        for hashed in (int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"),)
    )


def _named_features(token: str) -> Iterator[tuple[str, float]]:
    if token.startswith("\0"):
        yield f"kin:{token}", 0.9
    elif _UNSPACED_START.match(token):
        yield f"piece:{token}", 1.0 if len(token) > 1 else 0.3
    elif token in _COMMON:
        yield f"word:{token}", 0.1
    else:
        yield f"word:{token}", 1.0
        edged = f"<{token}>"
        grams = {edged[i : i + n] for n in (3, 4, 5) for i in range(len(edged) - n + 1)}
        # The grams together weigh about as much as half the word, however long it is.
        for gram in sorted(grams):
            yield f"gram:{gram}", 0.6 / math.sqrt(len(grams))
