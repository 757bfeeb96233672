"""A memory that keeps what an agent did beside what was said."""

from collections.abc import Sequence
from typing import Any

from langchain_classic.agents.openai_functions_agent.agent_token_buffer_memory import (
    AgentTokenBufferMemory as StockAgentTokenBufferMemory,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, get_buffer_string

from langchain_custom_agents.agents._messages import MessageScratchpad
from langchain_custom_agents.policies import approximate_tokens


class AgentTokenBufferMemory(StockAgentTokenBufferMemory):
    """LangChain's memory of questions, steps and answers, which cannot save one by itself.

    It keeps the most recent messages that are within `max_token_limit` tokens; a call of a tool
    and its result stay or go together. The executor must return its intermediate steps.

    Args:
        llm: The model that counts tokens. If that needs a tokenizer which is not installed,
            a token is taken for four bytes.
        max_token_limit: How many tokens are kept.
        memory_key: The input of the prompt that the messages become.
        format_as_tools: Whether steps that were made by hand become tool calls, rather than
            legacy function calls.

    Example:
        >>> from langchain_custom_agents.testing import ScriptedChatModel
        >>> memory = AgentTokenBufferMemory(
        ...     llm=ScriptedChatModel([], custom_get_token_ids=lambda text: [0] * len(text))
        ... )
        >>> memory.save_context({"input": "Hi"}, {"output": "Hello!", "intermediate_steps": []})
        >>> [message.content for message in memory.load_memory_variables({})["history"]]
        ['Hi', 'Hello!']
    """

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Keep what was asked, what was done, and what was answered.

        Args:
            inputs: The inputs of the run.
            outputs: Its outputs, with the intermediate steps.

        Raises:
            ValueError: If the outputs hold no intermediate steps.
        """
        if self.intermediate_steps_key not in outputs:
            msg = (
                f"AgentTokenBufferMemory needs the output {self.intermediate_steps_key!r}: give "
                "the executor return_intermediate_steps=True."
            )
            raise ValueError(msg)
        asked, said = self._get_input_output(inputs, outputs)
        pad = MessageScratchpad(legacy=not self.format_as_tools)
        done = pad.write(outputs[self.intermediate_steps_key])
        messages = [*self.buffer, HumanMessage(asked), *done, AIMessage(said)]
        self.chat_memory.clear()
        self.chat_memory.add_messages(self._recent(messages))

    def _recent(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the last messages that are within the limit."""
        kept = list(messages)
        while kept and self._tokens_in(kept) > self.max_token_limit:
            del kept[0]
            # A result without its call would be refused by every provider.
            while kept and kept[0].type in ("tool", "function"):
                del kept[0]
        return kept

    def _tokens_in(self, messages: list[BaseMessage]) -> int:
        try:
            return self.llm.get_num_tokens_from_messages(messages)
        except (ImportError, OSError):
            # LangChain's default is a tokenizer that has to be installed and downloaded. The turn
            # is over and paid for: it is kept by an estimate rather than lost.
            return approximate_tokens(get_buffer_string(messages))
