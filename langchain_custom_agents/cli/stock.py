"""The tutorials' custom agent, on LangChain's own classes: the one side of `lca demo`.

This is how tutorials on LangChain teach it: a prompt template and an output parser of one's own
on `LLMSingleActionAgent`, with a stop sequence that the model is trusted to obey.
"""

import re
from typing import Any

from langchain_classic.agents import AgentExecutor, AgentOutputParser, LLMSingleActionAgent
from langchain_classic.chains import LLMChain
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import StringPromptTemplate
from langchain_core.tools import BaseTool

_TEMPLATE = """Answer the question. You can use these tools:
{tools}

Write in this form:
Question: the question to answer
Thought: what to do next
Action: the tool to use, one of [{tool_names}]
Action Input: what to give it
Observation: what it returned
... (these four may repeat)
Thought: I now know the final answer
Final Answer: the answer to the question

Question: {input}
{agent_scratchpad}"""

_ACTION = re.compile(r"Action\s*:(.*?)\nAction Input\s*:\s*(.*)", re.DOTALL)


class TutorialPrompt(StringPromptTemplate):
    """A prompt template that writes the steps so far into the scratchpad."""

    tools: list[BaseTool]

    def format(self, **kwargs: Any) -> str:
        """Write the prompt."""
        steps = kwargs.pop("intermediate_steps")
        scratchpad = "".join(
            f"{action.log}\nObservation: {seen}\nThought: " for action, seen in steps
        )
        return _TEMPLATE.format(
            agent_scratchpad=scratchpad,
            tools="\n".join(f"{tool.name}: {tool.description}" for tool in self.tools),
            tool_names=", ".join(tool.name for tool in self.tools),
            **kwargs,
        )


class TutorialParser(AgentOutputParser):
    """An output parser that looks for the answer first, then for an action."""

    def parse(self, text: str) -> AgentAction | AgentFinish:
        """Read what the model said, all of it."""
        if "Final Answer:" in text:
            return AgentFinish({"output": text.rpartition("Final Answer:")[2].strip()}, text)
        match = _ACTION.search(text)
        if match is None:
            msg = f"Could not parse LLM output: `{text}`"
            raise ValueError(msg)
        return AgentAction(match[1].strip(), match[2].strip().strip('"'), text)


def tutorial_executor(llm: BaseLanguageModel[Any], tool: BaseTool) -> AgentExecutor:
    """Make LangChain's executor around LangChain's agent, as a tutorial does.

    Args:
        llm: The model.
        tool: The one tool.
    """
    prompt = TutorialPrompt(tools=[tool], input_variables=["input", "intermediate_steps"])
    agent = LLMSingleActionAgent(
        llm_chain=LLMChain(llm=llm, prompt=prompt),
        output_parser=TutorialParser(),
        stop=["\nObservation:"],
    )
    return AgentExecutor.from_agent_and_tools(agent=agent, tools=[tool])
