r"""Two hundred turns of a model that knows nothing, under the grammar of every dialect.

A tiny model with random weights is written with the `gguf` package, a real llama.cpp server is
started on a loopback port, and every turn it writes is read. Whatever can be read, the grammar
has made so:

    python -m benchmarks.llama_cpp --server /path/to/llama-server

It wants the packages `gguf` and `numpy`, and a `llama-server` built from llama.cpp. It is not run
in CI.
"""

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Bracketed,
    Conversational,
    JsonBlob,
    Misreading,
    SelfAsk,
)

DIALECTS = {
    "ENGLISH": ENGLISH,
    "JAPANESE": JAPANESE,
    "CHINESE": CHINESE,
    "Conversational": Conversational(),
    "Bracketed": Bracketed(),
    "Bracketed, Japanese": Bracketed(
        thought="思考:", action="行動:", observation="観察:", finish="完了"
    ),
    "JsonBlob": JsonBlob(),
    "SelfAsk": SelfAsk(),
}
WEATHER = {
    "name": "weather",
    "parameters": {
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["C", "F"]},
            "hours": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["city", "unit"],
    },
}
NOW = {"name": "now", "parameters": {"properties": {}}}
TOOLS = ["Search", WEATHER, NOW]
LAYERS, WIDTH, HEADS = 1, 64, 4


def vocabulary() -> list[bytes]:
    """List the pieces that the model writes: words, labels, marks, and every byte."""
    pieces = [
        " ",
        "the",
        " weather",
        " in",
        "Kyoto",
        "東京",
        "天気",
        "。",
        " is",
        ":",
        "\n",
        '"',
        "]",
    ]
    pieces += ["\n</s>", "</think>", "```", "```\n", "\n```", '", "', '": ', "}", "{", "[", ", "]
    for dialect in DIALECTS.values():
        labels = [label for name, label in dialect.labels.items() if name != "question"]
        pieces += [piece for label in labels for piece in (label, "\n" + label, "\n" + label + " ")]
    return list(dict.fromkeys(piece.encode() for piece in pieces))


def write_model(path: Path, seed: int) -> None:
    """Write a model of random weights: the architecture of Llama, as small as it can be."""
    import gguf
    import numpy as np

    rng = np.random.default_rng(seed)
    pieces = vocabulary()
    tokens = [
        b"<unk>",
        b"<s>",
        b"<end>",
        *(f"<0x{byte:02X}>".encode() for byte in range(256)),
        *pieces,
    ]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    kinds += [gguf.TokenType.NORMAL] * len(pieces)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(32768)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def tensor(name: str, *shape: int) -> None:
        writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(np.float32))

    def ones(name: str) -> None:
        writer.add_tensor(name, np.ones(WIDTH, dtype=np.float32))

    tensor("token_embd.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        ones(f"blk.{layer}.attn_norm.weight")
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        ones(f"blk.{layer}.ffn_norm.weight")
        tensor(f"blk.{layer}.ffn_gate.weight", 2 * WIDTH, WIDTH)
        tensor(f"blk.{layer}.ffn_up.weight", 2 * WIDTH, WIDTH)
        tensor(f"blk.{layer}.ffn_down.weight", WIDTH, 2 * WIDTH)
    ones("output_norm.weight")
    tensor("output.weight", len(tokens), WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def endings() -> list[list]:
    """Make what ends a text likelier, so that a turn is short; leave out tokens without a text.

    To a grammar `<unk>` and `<s>` are words like others; but the server says nothing for them.
    """
    pieces = vocabulary()
    marks = [
        b'"',
        b"]",
        *(piece for piece in pieces if piece.startswith(b"\n") and piece[-1:] == b" "),
    ]
    return [
        [0, False],
        [1, False],
        [2, 3.0],
        *([259 + pieces.index(piece), 3.0] for piece in marks),
    ]


def ask(port: int, prompt: str, grammar: str | None, seed: int) -> dict:
    body = {"prompt": prompt, "n_predict": 12000, "seed": seed, "temperature": 1.0, "top_k": 0}
    body |= {"top_p": 1.0, "min_p": 0.0, "cache_prompt": True, "logit_bias": endings()}
    if grammar:
        body["grammar"] = grammar
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=600) as reply:
        return json.load(reply)


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen]:
    """Run a server, and end it whatever happens, a SIGTERM for ourselves included."""
    # Its default action would end us at once, and leave the server behind.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with log.open("w") as out:
            server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield server
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            if server.returncode not in (0, -signal.SIGTERM):
                print(log.read_text(errors="replace")[-2000:])
    finally:
        signal.signal(signal.SIGTERM, before)


def wait(port: int, server: subprocess.Popen) -> None:
    for _ in range(600):
        if server.poll() is not None:
            raise SystemExit("The server has ended; see its output.")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("The server did not start within two minutes.")


def measure(port: int, turns: int, seed: int, only: list[str]) -> None:
    print("| dialect | grammar | readable | actions | answers | unread without it | s per turn |")
    print("|---|---|---|---|---|---|---|")
    for name, dialect in DIALECTS.items():
        if only and name not in only:
            continue
        tools = ["Intermediate Answer"] if dialect.only_tool else TOOLS
        grammar = dialect.grammar(tools, "gbnf")
        prompt = dialect.scratchpad()
        kinds: dict[str, int] = {}
        began, readable = time.perf_counter(), 0
        for turn in range(turns):
            said = ask(port, prompt, grammar, seed * 100_000 + turn)["content"]
            reading = dialect.read(said, tools)
            good = not isinstance(reading.move, Misreading) and not reading.repairs
            readable += good
            kind = type(reading.move).__name__
            kinds[kind] = kinds.get(kind, 0) + 1
            if not good:
                print(f"<!-- {name}: {said[-300:]!r} {reading.repairs} {reading.move!r:.200} -->")
        spent = (time.perf_counter() - began) / turns
        free = 0
        for turn in range(20):
            said = ask(port, prompt, None, turn)["content"]
            free += isinstance(dialect.read(said, tools).move, Misreading)
        print(
            f"| {name} | {len(grammar) / 1000:.0f} kB | {readable} of {turns} "
            f"| {kinds.get('Action', 0)} | {kinds.get('Answer', 0)} | {free} of 20 | {spent:.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the llama-server to start")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    parser.add_argument("--only", action="append", default=[], choices=list(DIALECTS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "random.gguf"
        write_model(model, chosen.seed)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [chosen.server, "-m", str(model), "--host", "127.0.0.1", "--port", str(port)]
        command += ["-c", "16384", "-np", "1", "-t", "1", "--no-warmup"]
        with running(command, Path(folder) / "log") as server:
            wait(port, server)
            print(f"Seed {chosen.seed}.\n", flush=True)
            measure(port, chosen.turns, chosen.seed, chosen.only)


if __name__ == "__main__":
    main()
