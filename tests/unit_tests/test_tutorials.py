"""The runs of the tutorials, with what their models said, to the letter where it matters."""

import re

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import AgentOutputParser
from langchain_classic.chains import LLMChain
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import CallbackManager
from langchain_core.messages import AIMessage
from langchain_core.prompts import StringPromptTemplate
from langchain_core.tools import Tool
from langchain_core.utils.input import get_color_mapping

from langchain_custom_agents import (
    AgentExecutor,
    FAISSStore,
    OpenAIFunctionsAgent,
    ReActAgent,
    TextDocstore,
    calculator_tool,
    docstore_tools,
    initialize_agent,
    retriever_tool,
)
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

EXECUTORS = pytest.mark.parametrize("executor_class", [StockExecutor, AgentExecutor])

# (a) Hiroko: what text-davinci-003 said, inventions included.

FAMILY = [
    "takuma is a teacher",
    "hiroko's father is takuma",
    "hiroko's mather is ayako",
    "ayako is a doctor",
    "hiroko is 10 years old",
]
ASKED = "What is hiroko's father's ocupation?"
FIRST = (
    "Thought: I need to find out what hiroko's father does for a living.\n"
    "Action: Search\n"
    "Action Input: \"Hiroko's father's occupation\""
)
SECOND = (
    " I need to find out what Takuma does for a living.\n"
    "Action: Search\n"
    'Action Input: "Takuma\'s occupation"\n'
)
THIRD = " I now know the final answer.\nFinal Answer: Takuma is a teacher."
SAID = [
    f"{FIRST}\nObservation: I found a website that lists Hiroko's father as a doctor.\n"
    "Thought: I now know the final answer.\nFinal Answer: Hiroko's father is a doctor.",
    f"{SECOND}\nObservation: Takuma is a fisherman.\nFinal Answer: Takuma is a fisherman.",
    THIRD,
]

TEMPLATE = """Answer with the help of these tools:
{tools}

The form:
Question: what is asked
Thought: what you think
Action: one of [{tool_names}]
Action Input: its input
Observation: its result
Thought: I now know the final answer
Final Answer: the answer

Begin!
Question: {input}
{agent_scratchpad}"""


class OwnPromptTemplate(StringPromptTemplate):
    template: str
    tools: list

    def format(self, **kwargs):
        scratchpad = ""
        for action, observation in kwargs.pop("intermediate_steps"):
            scratchpad += action.log + f"\nObservation: {observation}\nThought: "
        kwargs["agent_scratchpad"] = scratchpad
        kwargs["tools"] = "\n".join(f"{tool.name}: {tool.description}" for tool in self.tools)
        kwargs["tool_names"] = ", ".join(tool.name for tool in self.tools)
        return self.template.format(**kwargs)


class OwnOutputParser(AgentOutputParser):
    def parse(self, text):
        if "Final Answer:" in text:
            return AgentFinish({"output": text.split("Final Answer:")[-1].strip()}, text)
        found = re.search(r"Action\s*:(.*?)\nAction\s*Input\s*:\s*(.*)", text, re.DOTALL)
        if not found:
            raise ValueError(f"Could not parse LLM output: `{text}`")
        return AgentAction(found[1].strip(), found[2].strip().strip('"'), text)


@pytest.fixture
def search():
    return retriever_tool(FAISSStore.from_texts(FAMILY, HashingEmbeddings()), k=1)


@pytest.fixture
def own_parts(search):
    """An agent as the tutorial makes it: every part of one's own, in our class."""

    def make(llm):
        prompt = OwnPromptTemplate(
            template=TEMPLATE, tools=[search], input_variables=["input", "intermediate_steps"]
        )
        return ReActAgent(
            llm_chain=LLMChain(llm=llm, prompt=prompt),
            output_parser=OwnOutputParser(),
            stop=["\nObservation:"],
            allowed_tools=["Search"],
        )

    return make


@EXECUTORS
def test_hiroko_with_a_template_and_a_parser_of_ones_own(executor_class, own_parts, search):
    """A model that ignores stop invents twice, and the answer still comes from the documents."""
    llm = ScriptedLLM(SAID)
    executor = executor_class.from_agent_and_tools(
        agent=own_parts(llm), tools=[search], return_intermediate_steps=True
    )
    result = executor({"input": ASKED})

    assert result["output"] == "Takuma is a teacher."
    assert [
        (action.tool, action.tool_input, seen) for action, seen in result["intermediate_steps"]
    ] == [
        ("Search", "Hiroko's father's occupation", "hiroko's father is takuma"),
        ("Search", "Takuma's occupation", "takuma is a teacher"),
    ]
    assert [action.log for action, _ in result["intermediate_steps"]] == [FIRST, SECOND]


def test_hiroko_a_template_of_ones_own_reaches_the_model_to_the_letter(own_parts, search):
    """Not a character of somebody's own prompt is changed."""
    llm = ScriptedLLM(SAID)
    agent = own_parts(llm)
    AgentExecutor(agent=agent, tools=[search]).run(ASKED)
    head = TEMPLATE.format(
        tools=f"Search: {search.description}", tool_names="Search", input=ASKED, agent_scratchpad=""
    )

    assert llm.prompts == [
        head,
        f"{head}{FIRST}\nObservation: hiroko's father is takuma\nThought: ",
        f"{head}{FIRST}\nObservation: hiroko's father is takuma\nThought: "
        f"{SECOND}\nObservation: takuma is a teacher\nThought: ",
    ]
    assert llm.stops == [["\nObservation:"]] * 3


@EXECUTORS
def test_hiroko_with_our_own_template_and_parser(executor_class, search):
    """Our parts give the same actions, the same logs and the same answer."""
    llm = ScriptedLLM(SAID)
    agent = ReActAgent.from_llm_and_tools(llm, [search])
    executor = executor_class(agent=agent, tools=[search], return_intermediate_steps=True)
    result = executor.invoke({"input": ASKED})

    assert result["output"] == "Takuma is a teacher."
    assert [(action.tool_input, seen) for action, seen in result["intermediate_steps"]] == [
        ("Hiroko's father's occupation", "hiroko's father is takuma"),
        ("Takuma's occupation", "takuma is a teacher"),
    ]
    assert [action.log.strip() for action, _ in result["intermediate_steps"]] == [
        FIRST.strip(),
        SECOND.strip(),
    ]


def test_hiroko_the_stock_agent_believes_the_invention(search):
    """What this package is for: LangChain's class, given the same words, answers with no search."""
    from langchain_classic.agents import LLMSingleActionAgent

    prompt = OwnPromptTemplate(
        template=TEMPLATE, tools=[search], input_variables=["input", "intermediate_steps"]
    )
    agent = LLMSingleActionAgent(
        llm_chain=LLMChain(llm=ScriptedLLM(SAID), prompt=prompt),
        output_parser=OwnOutputParser(),
        stop=["\nObservation:"],
    )
    executor = StockExecutor(agent=agent, tools=[search], return_intermediate_steps=True)
    result = executor.invoke({"input": ASKED})

    assert result["output"] == "Hiroko's father is a doctor."
    assert result["intermediate_steps"] == []


# (b) Invoices, with labels in Japanese.

AMOUNTS = {"A": 2000, "C": 20000, "E": 1000, "F": 4100}
INVOICES_ASKED = (
    "How much is the difference between the total of company C, F and the total of company A, E ?"
)
INVOICES_SAID = [
    "思考: I need to get invoice amount of company C.\n行動: GetInvoice[C]\n観察: 30000",
    " I need to get invoice amount of company F.\n行動: GetInvoice[F]",
    " I need to get invoice amount of company A.\n行動: GetInvoice[A]",
    " I need to get invoice amount of company E.\n行動: GetInvoice[E]",
    " I need the total of C and F.\n行動: Total[20000,4100]",
    " I need the total of A and E.\n行動: Total[2000,1000]",
    " I need the difference.\n行動: Diff[24100,3000]",
    " I know the difference.\n行動: 完了[21100]",
]
IN_JAPANESE = Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了")


@pytest.fixture
def invoice_tools():
    def numbers(text):
        return [int(part) for part in text.split(",")]

    return [
        Tool("GetInvoice", lambda company: AMOUNTS[company], "the invoice amount of a company"),
        Tool("Total", lambda text: sum(numbers(text)), "the total of amounts"),
        Tool("Diff", lambda text: numbers(text)[0] - numbers(text)[1], "the difference of two"),
    ]


@EXECUTORS
def test_invoices_with_labels_in_japanese(executor_class, invoice_tools):
    """Amounts stay integers, the invented one is cut, and 完了[21100] comes out."""
    llm = ScriptedLLM(INVOICES_SAID)
    agent = ReActAgent.from_llm_and_tools(llm, invoice_tools, dialect=IN_JAPANESE)
    executor = executor_class(agent=agent, tools=invoice_tools, return_intermediate_steps=True)
    result = executor.invoke({"input": INVOICES_ASKED})

    assert result["output"] == "21100"
    assert [
        (action.tool, action.tool_input, seen) for action, seen in result["intermediate_steps"]
    ] == [
        ("GetInvoice", "C", 20000),
        ("GetInvoice", "F", 4100),
        ("GetInvoice", "A", 2000),
        ("GetInvoice", "E", 1000),
        ("Total", "20000,4100", 24100),
        ("Total", "2000,1000", 3000),
        ("Diff", "24100,3000", 21100),
    ]
    assert "観察: 20000\n思考:" in llm.prompts[1]


def test_invoices_one_step_at_a_time_by_hand(invoice_tools):
    """plan runs no tool; the tool takes the agent's prefixes; steps are fed back by hand."""
    agent = ReActAgent.from_llm_and_tools(
        ScriptedLLM(INVOICES_SAID), invoice_tools, dialect=IN_JAPANESE
    )
    action = agent.plan([], callbacks=None, input=INVOICES_ASKED)

    assert action == AgentAction(
        "GetInvoice", "C", "思考: I need to get invoice amount of company C.\n行動: GetInvoice[C]"
    )
    prefixes = agent.tool_run_logging_kwargs()
    assert prefixes == {"llm_prefix": "思考: ", "observation_prefix": "観察: "}
    observation = invoice_tools[0].run(action.tool_input, verbose=False, callbacks=None, **prefixes)
    assert observation == 20000
    second = agent.plan([(action, observation)], callbacks=None, input=INVOICES_ASKED)
    assert (second.tool_input, second.log) == (
        "F",
        " I need to get invoice amount of company F.\n行動: GetInvoice[F]",
    )


# (c) Clinton, over a docstore.

CLINTON_SAID = [
    "Thought: I need to search Bill Clinton and find his wife, then find what she does for a "
    "living.\nAction: Search[Bill Clinton]",
    " Bill Clinton's wife is Hillary Clinton. I need to search Hillary Clinton and find what she "
    "does for a living.\nAction: Search[Hillary Clinton]",
    " Hillary Clinton is a politician, diplomat, and lawyer. So the answer is politician, "
    "diplomat, and lawyer.\nAction: Finish[politician, diplomat, lawyer]",
]
PAGES = {
    "Bill Clinton": "Bill Clinton was the 42nd president. He is the husband of Hillary Clinton.",
    "Hillary Clinton": "Hillary Clinton is a politician and diplomat. She was a lawyer before.",
}


@pytest.mark.parametrize("way", ["run", "arun"])
async def test_clinton_over_a_docstore(way):
    """Search, Search, and the answer, through `initialize_agent` as the tutorial does."""
    llm = ScriptedLLM(CLINTON_SAID)
    executor = initialize_agent(
        docstore_tools(TextDocstore(PAGES)), llm, agent="react-docstore", verbose=False
    )
    question = "What do Bill Clinton's wife do for a living?"
    answer = executor.run(question) if way == "run" else await executor.arun(question)

    assert answer == "politician, diplomat, lawyer"
    assert "husband of Hillary Clinton" in llm.prompts[1]
    assert "She was a lawyer before" in llm.prompts[2]


# (d) Function calling.


def calls(expression):
    return AIMessage(
        "",
        additional_kwargs={
            "function_call": {"name": "Calculator", "arguments": f'{{"__arg1": "{expression}"}}'}
        },
    )


def test_functions_plan_gives_an_action_then_a_finish():
    """Without steps the model calls the calculator; with the step it answers."""
    model = ScriptedChatModel([calls("128 * 345"), AIMessage("128と345の積は44160です。")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [calculator_tool()])
    action = agent.plan([], input="128と345の積は?")

    assert (action.tool, action.tool_input) == ("Calculator", "128 * 345")
    assert action.log == "\nInvoking: `Calculator` with `128 * 345`\n\n\n"
    finish = agent.plan([(action, "Answer: 44160")], input="128と345の積は?")
    assert finish.return_values == {"output": "128と345の積は44160です。"}


def test_functions_plan_may_finish_at_once():
    """A greeting needs no tool."""
    model = ScriptedChatModel([AIMessage("こんにちは! お困りのことはありますか?")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [calculator_tool()])

    assert isinstance(agent.plan([], input="こんにちは!"), AgentFinish)


@EXECUTORS
@pytest.mark.parametrize("depth", ["run", "call", "_call", "_take_next_step"])
def test_functions_the_executor_at_each_depth(executor_class, depth):
    """run gives text, a call and _call a dict, _take_next_step the raw result of the tool."""
    answer = "123と345をかけると、42435になります。"
    model = ScriptedChatModel([calls("123 * 345"), AIMessage(answer)])
    tools = [calculator_tool()]
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, tools)
    executor = executor_class.from_agent_and_tools(agent=agent, tools=tools)
    inputs = {"input": "123と345をかけてください"}

    if depth == "run":
        assert executor.run(inputs["input"]) == answer
    elif depth == "call":
        assert executor(inputs) == {**inputs, "output": answer}
    elif depth == "_call":
        assert executor._call(inputs) == {"output": answer}
    else:
        names = {tool.name: tool for tool in tools}
        colors = get_color_mapping(list(names), excluded_colors=["green", "red"])
        [(action, observation)] = executor._take_next_step(names, colors, inputs, [])
        assert (action.tool_input, observation) == ("123 * 345", "Answer: 42435")


# (e) By hand, with a run manager.


@EXECUTORS
def test_a_round_by_hand_prints_as_a_run_does(executor_class, search, capsys):
    """`_take_next_step` with a run manager from `CallbackManager.configure` shows each part."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(SAID), [search])
    executor = executor_class.from_agent_and_tools(agent=agent, tools=[search], verbose=True)
    manager = CallbackManager.configure(None, None, verbose=True)
    run_manager = manager.on_chain_start({"name": "by hand"}, {"input": ASKED})
    names = {"Search": search}
    [(action, observation)] = executor._take_next_step(
        names, get_color_mapping(["Search"]), {"input": ASKED}, [], run_manager
    )
    printed = capsys.readouterr().out

    assert action.tool_input == "Hiroko's father's occupation"
    assert observation == "hiroko's father is takuma"
    assert FIRST in printed
    assert "Observation: " in printed
    assert observation in printed
    assert "website" not in printed
