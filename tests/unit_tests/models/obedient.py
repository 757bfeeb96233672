"""Rule-based models that obey the instructions of a dialect, with tools and without: no wit."""

import json
import re

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, AIMessageChunk, UsageMetadata, get_buffer_string
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)

from langchain_custom_agents.dialects import ENGLISH, Action, Answer, Dialect
from langchain_custom_agents.models.transcript import must_call
from langchain_custom_agents.policies import approximate_tokens


def _tools_in(described: str) -> list[tuple[str, str]]:
    """Return the names of the tools described in a prompt, and what is said of their arguments."""
    tools = re.split(r"^(?=\w+: )", described.strip(), flags=re.MULTILINE)
    return [(tool.split(":")[0], tool.strip().partition(", args: ")[2]) for tool in tools if tool]


def reply_to(prompt: str, dialect: Dialect) -> str:
    """Say what the rules make of a prompt.

    Greetings are answered; a question to which a tool is offered is put to that tool; what the
    tool returned is the answer.
    """
    say = dialect.phrases
    before, form, after = prompt.partition(say.form)
    if not form:
        return f"You said: {prompt.splitlines()[-1] if prompt.strip() else 'nothing'}"
    turns = re.split(rf"^(?:{re.escape(dialect.question)}|Human:)", after, flags=re.MULTILINE)
    question = turns[-1].split("\n")[0].strip()
    heard = re.findall(rf"{re.escape(dialect.observation)} (.*)", turns[-1])
    forced = must_call(say)[0] in after
    if len(turns) > 1 and heard and not forced:
        return dialect.write("I know it now", Answer(heard[-1])).removeprefix(dialect.cue)
    tools = _tools_in(before.partition(say.introduction)[2])
    words = set(re.findall(r"\w{4,}", question.lower()))
    for name, args in tools:
        if forced or words & set(re.findall(r"[a-z]+", name.replace("_", " "))):
            given = _arguments(json.loads(args), question) if args else question
            return dialect.write("I must look", Action(name, given)).removeprefix(dialect.cue)
    return dialect.write("", Answer(f"You said: {question}")).removeprefix(dialect.cue)


def _arguments(schema: dict, question: str) -> dict:
    numbers = iter(re.findall(r"-?\d+", question))
    values = {}
    for name, part in schema.items():
        kind = part.get("type", "string")
        if kind in ("integer", "number"):
            values[name] = int(next(numbers, 0))
        else:
            values[name] = {"boolean": True, "array": [], "object": {}}.get(kind, question)
    return values


def _cut(words: str, stop) -> str:
    for sequence in stop or ():
        words = words.split(sequence, maxsplit=1)[0]
    return words


def _pieces(words: str) -> list[str]:
    return [words[at : at + 4] for at in range(0, len(words), 4)]


class ObedientLLM(LLM):
    """A text model that reports what it used, as OpenAI's text models do."""

    dialect: Dialect = ENGLISH
    model_name: str = "obedient"
    temperature: float | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None

    @property
    def _llm_type(self):
        return "obedient"

    def _call(self, prompt, stop=None, run_manager=None, **kwargs):
        return _cut(reply_to(prompt, self.dialect), [*(stop or ()), *(self.stop or ())])

    def _used(self, prompt, words, kwargs):
        read, written = approximate_tokens(prompt), approximate_tokens(words)
        told = {"prompt_tokens": read, "completion_tokens": written}
        return {"token_usage": told, "model_name": kwargs.get("model", self.model_name)}

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs):
        words = self._call(prompts[0], stop, run_manager, **kwargs)
        used = self._used(prompts[0], words, kwargs)
        return LLMResult(generations=[[Generation(text=words)]], llm_output=used)

    async def _agenerate(self, prompts, stop=None, run_manager=None, **kwargs):
        return self._generate(prompts, stop, run_manager, **kwargs)

    def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
        words = self._call(prompt, stop, run_manager, **kwargs)
        for piece in _pieces(words):
            chunk = GenerationChunk(text=piece)
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        yield GenerationChunk(text="", generation_info=self._used(prompt, words, kwargs))


class ObedientChatModel(BaseChatModel):
    """A chat model that reports what it used."""

    dialect: Dialect = ENGLISH
    model_name: str = "obedient-chat"
    temperature: float | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None

    @property
    def _llm_type(self):
        return "obedient-chat"

    def _say(self, messages, stop):
        prompt = get_buffer_string(messages)
        words = reply_to(prompt, self.dialect).removeprefix("You said: Human: ")
        return _cut(words, [*(stop or ()), *(self.stop or ())])

    def _used(self, messages, words):
        read, written = approximate_tokens(get_buffer_string(messages)), approximate_tokens(words)
        return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        words = self._say(messages, stop)
        told = {"model_name": kwargs.get("model", self.model_name), "finish_reason": "stop"}
        message = AIMessage(
            words, usage_metadata=self._used(messages, words), response_metadata=told
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        words = self._say(messages, stop)
        for piece in _pieces(words):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        told = {"model_name": kwargs.get("model", self.model_name), "finish_reason": "stop"}
        used = self._used(messages, words)
        last = AIMessageChunk(content="", usage_metadata=used, response_metadata=told)
        yield ChatGenerationChunk(message=last)
