"""Embeddings without a model."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_tests.unit_tests import EmbeddingsUnitTests

from langchain_custom_agents.offline.embeddings import HashingEmbeddings

HIROKO = [
    "takuma is a teacher",
    "hiroko's father is takuma",
    "hiroko's mather is ayako",
    "ayako is a doctor",
    "hiroko is 10 years old",
]


class TestStandard(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[HashingEmbeddings]:
        """The class that LangChain's suite looks at."""
        return HashingEmbeddings


def nearest(question: str, texts: list[str], dimension: int = 1024) -> str:
    """Return the text nearest to a question."""
    embeddings = HashingEmbeddings(dimension)
    scores = np.array(embeddings.embed_documents(texts)) @ np.array(
        embeddings.embed_query(question)
    )
    return texts[int(scores.argmax())]


@pytest.mark.parametrize("dimension", [384, 1024, 1536])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("hiroko's age", "hiroko is 10 years old"),
        ("How old is Hiroko?", "hiroko is 10 years old"),
        ("Takuma's occupation", "takuma is a teacher"),
        ("Hiroko's father's occupation", "hiroko's father is takuma"),
        ("HIROKO\u2019S FATHER", "hiroko's father is takuma"),
        ("hiroko's mother", "hiroko's mather is ayako"),
        ("Ayako's job", "ayako is a doctor"),
    ],
)
def test_the_tutorial(question: str, answer: str, dimension: int) -> None:
    """The tutorial's questions find the sentences that answer them, whatever the dimension."""
    assert nearest(question, HIROKO, dimension) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("ひろ子の父", "ひろ子の父は琢磨です。"),
        ("琢磨の職業は?", "琢磨は教師です。"),
        ("ﾋﾛｺ", "ヒロコ"),
    ],
)
def test_scripts_without_spaces(question: str, answer: str) -> None:
    """Japanese is found by its characters, its pairs, and in half width too."""
    texts = ["琢磨は教師です。", "ひろ子の父は琢磨です。", "ひろ子は10歳です。", "ヒロコ"]
    assert nearest(question, texts) == answer


@given(st.text())
def test_length_is_one_or_nothing(text: str) -> None:
    """Any text in any script has a vector of length 1, or 0 if it holds no word at all."""
    vector = np.array(HashingEmbeddings(64).embed_query(text))
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()


@given(st.text(alphabet="abc ÀÉ東京ガ"))
def test_case_and_width_do_not_matter(text: str) -> None:
    """Upper case, and characters composed in another way, give the same vector."""
    embeddings = HashingEmbeddings(64)
    assert embeddings.embed_query(text) == embeddings.embed_query(text.upper())


def test_every_process_agrees() -> None:
    """Another process with another hash seed gives the very same numbers."""
    code = (
        "from langchain_custom_agents.offline.embeddings import HashingEmbeddings; "
        "print(HashingEmbeddings(64).embed_query('hiroko は 10 years old'))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "12345"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip() == str(HashingEmbeddings(64).embed_query("hiroko は 10 years old"))


async def test_async_is_the_same() -> None:
    """The async twins give the same vectors, for few texts and for many."""
    embeddings = HashingEmbeddings(64)
    texts = [f"text {number}" for number in range(10)]
    assert await embeddings.aembed_documents(texts) == embeddings.embed_documents(texts)
    assert await embeddings.aembed_documents(texts[:2]) == embeddings.embed_documents(texts[:2])
    assert await embeddings.aembed_query("text") == embeddings.embed_query("text")


@pytest.mark.parametrize("dimension", [0, 7, -1, True, "64", 10.0])
def test_a_bad_dimension_is_refused(dimension: object) -> None:
    """A dimension that is no number of at least 8 is refused by name."""
    with pytest.raises(ValueError, match="dimension must be"):
        HashingEmbeddings(dimension)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "said"),
    [("one text", "takes a list of texts"), ([None], "not NoneType"), ([3], "not int: '3'")],
)
def test_what_is_no_text_is_refused(texts: object, said: str) -> None:
    """One text in place of a list, and what is no text, is refused in a sentence."""
    with pytest.raises(TypeError, match=said):
        HashingEmbeddings().embed_documents(texts)


def test_it_says_what_it_is() -> None:
    """The docstring calls it a stand-in, not a language model."""
    assert "stand-in" in (HashingEmbeddings.__doc__ or "")
    assert "not a language model" in (HashingEmbeddings.__doc__ or "")
