"""Stepper: a driver of the loop that stops after every move, and goes back.

The loop is a generator, which cannot be rewound. But it does no input or output: it is run again
with the answers that are known. So a state is the list of answers, and going back, editing and
forking are edits of that list.
"""

import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackHandler,
    CallbackManagerForChainRun,
)
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import BaseMessage
from langchain_core.outputs import Generation, LLMResult
from langchain_core.tools import BaseTool
from typing_extensions import Self

from langchain_custom_agents._counted import counted
from langchain_custom_agents.dialects import Action, Answer, Dialect, Misreading, Move, Toolbox
from langchain_custom_agents.loop import (
    Ask,
    Call,
    Done,
    Misread,
    Run,
    Step,
    Stop,
    Turn,
    advance,
    turn,
)
from langchain_custom_agents.policies import CountTokens, Limits, Reask, Repeats, approximate_tokens
from langchain_custom_agents.records.build import Event, Setting, build
from langchain_custom_agents.records.messages import (
    as_json,
    call_data,
    message_data,
    message_label,
    message_text,
    prompt_data,
    prompt_text,
    reply_of,
)
from langchain_custom_agents.records.record import Prompt, RunRecord, StepRecord
from langchain_custom_agents.records.recorder import Events, Recorder

if TYPE_CHECKING:
    from langchain_custom_agents.agents.executor import AgentExecutor

Request: TypeAlias = Ask | Call | Stop | Done

BY_HAND = "by hand"


@dataclass(frozen=True)
class Part:
    """A part of a prompt.

    Args:
        name: What it is: "tools", "question", "steps", or whose message.
        text: The part, to the letter.
        tokens: Its tokens, as they are counted here.
    """

    name: str
    text: str
    tokens: int


@dataclass(frozen=True)
class Preview:
    """A prompt before it is sent.

    Args:
        prompt: The prompt, to the letter.
        parts: Its parts, in order.
    """

    prompt: Prompt
    parts: tuple[Part, ...]

    @property
    def tokens(self) -> int:
        """The tokens of the prompt: the sum of its parts'."""
        return sum(part.tokens for part in self.parts)

    def __str__(self) -> str:
        width = max((len(part.name) for part in self.parts), default=0)
        lines = [f"{part.name:<{width}}  {part.tokens:>6}" for part in self.parts]
        return "\n".join([*lines, f"{'tokens':<{width}}  {self.tokens:>6}"])


@dataclass(frozen=True)
class _Entry:
    """An answer that the loop was given, and what was heard while it was found."""

    request: Request
    reply: Any
    events: tuple[Event, ...] = ()


class Stepper:
    r"""A run that waits for you after every move.

    `plan` asks the model and runs nothing; `act` does what was planned; `step` is both; `finish`
    goes on to the end. What is planned or was found can be changed, steps can be given by hand,
    and it goes `back` and can be `fork`ed. Tools are not rewound: a page that a tool keeps open
    stays open.

    Args:
        agent: The agent, or an executor with its own settings.
        tools: The tools; an executor's own if it is one.
        question: What is asked: a text, or the inputs by name, such as `chat_history`. It may be
            left out where the prompt asks for nothing.
        callbacks: Handlers that hear what happens, too.
        count_tokens: Counts the tokens of a text, where the model reports none.

    Raises:
        ValueError: If an input is missing, or the tools are missing.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents import ReActAgent
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> search = Tool("Search", lambda query: "takuma is a teacher", "looks things up")
        >>> llm = ScriptedLLM([
        ...     "I look\nAction: Search\nAction Input: Takuma\nObservation: a doctor",
        ...     "I know\nFinal Answer: a teacher",
        ... ])
        >>> agent = ReActAgent.from_llm_and_tools(llm, [search])
        >>> stepper = Stepper(agent, [search], "What is Takuma?")
        >>> stepper.plan()
        Action(tool='Search', input='Takuma')
        >>> stepper.cut
        'Observation: a doctor'
        >>> stepper.act()
        'takuma is a teacher'
        >>> stepper.finish().answer
        'a teacher'
    """

    def __init__(
        self,
        agent: Any,
        tools: Sequence[BaseTool] | None = None,
        question: str | Mapping[str, Any] | None = None,
        *,
        callbacks: Sequence[BaseCallbackHandler] = (),
        count_tokens: CountTokens = approximate_tokens,
    ) -> None:
        self._executor = _executor(agent, tools)
        self._inputs: dict[str, Any] = self._executor.prep_inputs(
            question if isinstance(question, str) else dict(question or {})
        )
        missing = [name for name in self._executor.input_keys if name not in self._inputs]
        if missing:
            msg = (
                f"Stepper needs `question`: the prompt asks for {', '.join(missing)}. Give a text, "
                "or the inputs by name."
            )
            raise ValueError(msg)
        self._count = count_tokens
        self._setting = Setting.of(self._executor, count=count_tokens)
        self._callbacks = [*callbacks]
        self._entries: list[_Entry] = []
        self._began, self._started = time.perf_counter(), datetime.now(timezone.utc)
        self._rebuild()

    # Looking.

    @property
    def agent(self) -> Any:
        """The agent."""
        return self._executor._action_agent

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return isinstance(self._request, Done)

    @property
    def answer(self) -> str | None:
        """The answer; None while there is none."""
        return self.record.answer

    @property
    def planned(self) -> bool:
        """Whether something is planned that `act` will do."""
        return isinstance(self._request, Call)

    @property
    def steps(self) -> list[Step]:
        """The transcript so far, as LangChain holds it: actions with observations."""
        return list(self._run.steps)

    @property
    def prompt(self) -> str:
        """The prompt that the last words answer; before there are any, the one `plan` will send."""
        last = self._last
        return prompt_text(self.preview().prompt if last is None else last.prompt)

    @property
    def raw(self) -> str:
        """What the model said last, to the letter."""
        return self._last_or_refuse("raw").raw or ""

    @property
    def thought(self) -> str:
        """The thought in it."""
        return self._last_or_refuse("thought").thought

    @property
    def cut(self) -> str:
        """The words that were cut from it."""
        return self._last_or_refuse("cut").cut

    @property
    def repairs(self) -> list[str]:
        """What was mended to read it."""
        return self._last_or_refuse("repairs").repairs

    @property
    def move(self) -> Move | tuple[Action, ...]:
        """What was planned last: an action (or several), the answer, or a misreading."""
        for entry in reversed(self._entries):
            if isinstance(entry.request, Ask | Stop):
                return _move(entry.reply)
        msg = "Nothing was planned yet: call plan()."
        raise ValueError(msg)

    @property
    def scratchpad(self) -> str:
        """The transcript as the model will see it."""
        steps, dialect = self.steps, getattr(self.agent, "dialect", None)
        if isinstance(dialect, Dialect):
            from langchain_custom_agents.agents.prompt import Scratchpad

            return Scratchpad(dialect, self._setting.toolbox).write(steps)
        written = getattr(self.agent, "_scratchpad", None)
        construct = getattr(self.agent, "_construct_scratchpad", None)
        if written is not None:
            return prompt_text([message_data(message) for message in written.write(steps)])
        if construct is not None:
            pad = construct(steps)
            return pad if isinstance(pad, str) else prompt_text(prompt_data(pad))
        return "\n".join(f"{action.log}\nObservation: {seen}" for action, seen in steps)

    @property
    def record(self) -> RunRecord:
        """The run so far, as a record."""
        events: list[Event] = []
        for entry, following in zip_longest(self._entries, self._entries[1:]):
            # What was planned is heard again when it is done, perhaps changed by `approve`.
            done = following is not None and isinstance(following.request, Call)
            events += [event for event in entry.events if not (done and event[0] == "action")]
        if isinstance(self._request, Done):
            finish, at = self._request.outcome, events[-1][1] if events else self._began
            events += [("finish", at, None, None, (finish,)), ("end", at, None, None, ({},))]
        return build(self._setting, self._inputs, events, self._began, self._started)

    def preview(self) -> Preview:
        """Return the prompt that `plan` will send, with the tokens of its parts. Nothing is sent.

        Raises:
            ValueError: If the run has ended, or an action is planned that has no result yet.
        """
        request = self._request
        if not isinstance(request, Ask | Stop):
            why = "the run has ended" if self.done else "act() comes first"
            msg = f"There is no prompt to preview: {why}."
            raise ValueError(msg)  # noqa: TRY004 - it is no wrong type, but too early or too late
        heard, sent = self._unsent(Ask(request.steps))
        return Preview(prompt_data(heard), self._parts(heard, sent))

    # Moving.

    def plan(self) -> Move | tuple[Action, ...]:
        """Ask the model for its next move. Nothing is run.

        A reply that cannot be read gives a `Misreading`; the correction is in the transcript, and
        the next `plan` asks again.

        Returns:
            An action (a tuple of several, if the reply holds several), the answer, or a misreading.

        Raises:
            ValueError: If the run has ended, or an action is planned already.
        """
        request = self._to_plan()
        with _Listening(self) as heard:
            if isinstance(request, Ask):
                reply: Any = self._executor._ask(request, self._inputs, heard.manager)
            else:
                reply = self._executor._stopped(request, self._inputs, heard.manager)
        return self._planned(reply, heard)

    async def aplan(self) -> Move | tuple[Action, ...]:
        """Ask the model for its next move without blocking; see `plan`."""
        request = self._to_plan()
        with _Listening(self) as heard:
            if isinstance(request, Ask):
                reply: Any = await self._executor._aask(request, self._inputs, heard.amanager)
            else:
                reply = await self._executor._astopped(request, self._inputs, heard.amanager)
        return self._planned(reply, heard)

    def act(self) -> str | list[str]:
        """Do what is planned: call the tool, or the tools.

        Returns:
            What the model will be told; a list, if several tools were called.

        Raises:
            ValueError: If nothing is planned.
        """
        request = self._to_act()
        with _Listening(self) as heard:
            steps = list(
                self._executor._perform(
                    request.actions, *self._executor._tool_maps(), heard.manager
                )
            )
        return self._acted([(step.action, step.observation) for step in steps], heard)

    async def aact(self) -> str | list[str]:
        """Do what is planned without blocking; see `act`."""
        request = self._to_act()
        with _Listening(self) as heard:
            steps = await self._executor._aperform(
                request.actions, *self._executor._tool_maps(), heard.amanager
            )
        return self._acted([(step.action, step.observation) for step in steps], heard)

    def step(self) -> StepRecord:
        """Plan, unless something is planned, and act.

        Returns:
            What happened.
        """
        if not self.planned:
            self.plan()
        if self.planned:
            self.act()
        return self.record.steps[-1]

    async def astep(self) -> StepRecord:
        """Plan and act without blocking; see `step`."""
        if not self.planned:
            await self.aplan()
        if self.planned:
            await self.aact()
        return self.record.steps[-1]

    def finish(self) -> RunRecord:
        """Go on until the run ends.

        Returns:
            The record of the whole run.
        """
        while not self.done:
            self.step()
        return self.record

    async def afinish(self) -> RunRecord:
        """Go on until the run ends without blocking; see `finish`."""
        while not self.done:
            await self.astep()
        return self.record

    # Changing.

    def edit(
        self,
        *,
        tool: str | None = None,
        input: str | dict[str, Any] | None = None,  # noqa: A002 - as Action calls it
        observation: Any = None,
        call: int = 0,
    ) -> None:
        """Change the action that is planned, or what was just observed.

        Args:
            tool: The tool to call instead.
            input: What to call it with instead.
            observation: What the model shall be told instead of what the tool returned.
            call: Which call is meant, if there are several: 0 is the first.

        Raises:
            ValueError: If there is nothing of the kind to change.
        """
        if tool is not None or input is not None:
            self._edit_action(tool, input, call)
        if observation is not None:
            self._edit_observation(observation, call)

    def say(self, words: str) -> Move | tuple[Action, ...]:
        """Take words of yours for the model's: they are read as its would be.

        Args:
            words: What the model might have said.

        Returns:
            What `plan` would have returned.
        """
        request = self._to_plan()
        heard, _ = self._unsent(Ask(request.steps))
        return self._planned(self._read(words), _by_hand(heard, words))

    def feed(
        self,
        tool: str,
        input: str | dict[str, Any],  # noqa: A002 - as Action calls it
        observation: Any,
        thought: str = "",
    ) -> None:
        """Add a step by hand: neither the model nor the tool is called.

        Args:
            tool: The tool.
            input: What it is called with.
            observation: What it returns.
            thought: The reasoning before it.

        Raises:
            ValueError: If the run has ended, or an action is planned already.
        """
        self._to_plan()
        heard, _ = self._unsent(Ask(self._run.steps))
        dialect = getattr(self.agent, "dialect", None)
        if isinstance(dialect, Dialect):
            log = _log(dialect, thought, Action(tool, input))
        else:
            log = thought
        action = AgentAction(tool, input, log)
        self._planned(action, _by_hand(heard, log))
        noted: Event = ("action", time.perf_counter(), None, None, (action,))
        self._acted([(action, observation)], _Heard([noted]))

    def back(self, moves: int = 1) -> None:
        """Go back to before the last plan, or further.

        Args:
            moves: How many plans to take back.

        Raises:
            ValueError: If there are not so many.
        """
        plans = [
            at for at, entry in enumerate(self._entries) if isinstance(entry.request, Ask | Stop)
        ]
        if not 1 <= moves <= len(plans):
            msg = f"back() can take back at most {counted(len(plans), 'move')}, not {moves}."
            raise ValueError(msg)
        del self._entries[plans[-moves] :]
        self._rebuild()

    def fork(self) -> "Stepper":
        """Return a second stepper in the same state, which goes its own way from here."""
        other = object.__new__(Stepper)
        other.__dict__.update(self.__dict__)
        other._entries = list(self._entries)
        other._rebuild()
        return other

    def __repr__(self) -> str:
        state = "done" if self.done else "act() comes next" if self.planned else "plan() comes next"
        steps = counted(len(self._run.steps), "step")
        return f"Stepper({self.record.question!r}, {steps}, {state})"

    # The loop.

    def _flow(self) -> Generator[Ask | Call | Stop, Any, AgentFinish]:
        """Run the rounds, each as a turn of the loop."""
        executor = self._executor
        self._run = Run(Limits(executor.max_iterations), executor._get_tool_return)
        rounds = self._run.rounds()
        request = advance(rounds)
        while not isinstance(request, Done):
            if isinstance(request, Turn):
                reply = yield from turn(
                    request.steps, Reask(executor.max_corrections), [Repeats(executor.max_repeats)]
                )
            else:
                reply = yield request
            request = advance(rounds, reply)
        finish: AgentFinish = request.outcome
        return finish

    def _rebuild(self) -> None:
        """Run the loop again with the answers that are known."""
        self._loop = self._flow()
        self._request: Request = advance(self._loop)
        for entry in self._entries:
            self._request = advance(self._loop, entry.reply)

    def _answered(self, reply: Any, events: Sequence[Event]) -> None:
        self._entries.append(_Entry(self._request, reply, tuple(events)))
        self._request = advance(self._loop, reply)

    def _to_plan(self) -> Ask | Stop:
        if isinstance(self._request, Ask | Stop):
            return self._request
        why = "The run has ended" if self.done else "An action is planned: call act()"
        msg = f"{why}; or take the last move back with back()."
        raise ValueError(msg)

    def _to_act(self) -> Call:
        if isinstance(self._request, Call):
            return self._request
        msg = "The run has ended." if self.done else "Nothing is planned: call plan() first."
        raise ValueError(msg)

    def _planned(self, reply: Any, heard: "_Heard") -> Move | tuple[Action, ...]:
        at = time.perf_counter()
        actions = [reply] if isinstance(reply, AgentAction) else reply
        if isinstance(reply, Misread):
            note = AgentAction("_Exception", reply.correction, reply.words)
            told: list[Event] = [("action", at, None, None, (note,))]
        elif isinstance(reply, AgentFinish):
            told = [("finish", at, None, None, (reply,))]
        else:
            told = [("action", at, None, None, (action,)) for action in actions]
        self._answered(reply, [*heard.events, *told])
        return _move(reply)

    def _acted(self, steps: list[Step], heard: "_Heard") -> str | list[str]:
        at = time.perf_counter()
        told: list[Event] = [
            ("artifact", at, None, None, (action, found)) for action, found in heard.artifacts
        ]
        told.append(("steps", at, None, None, (steps,)))
        self._answered(steps, [*heard.events, *told])
        seen = [str(observation) for _, observation in steps]
        return seen[0] if len(seen) == 1 else seen

    # Without a call.

    def _unsent(self, request: Ask) -> tuple[Any, Mapping[str, Any]]:
        """Return what the model would be sent, and what goes with it."""
        try:
            with _Listening(self, [_Halt()]) as heard:
                self._executor._ask(request, self._inputs, heard.manager)
        except _HaltedError as halted:
            return halted.heard, halted.about
        msg = f"{type(self.agent).__name__} shows no prompt before it is sent."
        raise ValueError(msg)

    def _parts(self, heard: Any, about: Mapping[str, Any]) -> tuple[Part, ...]:
        if isinstance(heard, str):
            named = self._text_parts(heard)
        else:
            data = [message_data(message) for message in heard]
            named = [(message_label(item), message_text(item)) for item in data]
            schemas = (about.get("invocation_params") or {}).get("tools") or about.get("tools")
            if schemas:
                named.append(("tools", as_json(schemas)))
        return tuple(Part(name, text, self._count(text)) for name, text in named if text)

    def _text_parts(self, text: str) -> list[tuple[str, str]]:
        """Split a text prompt at its landmarks: the tools, the question, the steps."""
        marks: list[tuple[int, str]] = [(0, "instructions")]
        described = [f"{spec.name}: {spec.description}" for spec in self._setting.toolbox]
        places = [(text.find(line), len(line)) for line in described]
        if places and all(at >= 0 for at, _ in places):
            marks.append((min(at for at, _ in places), "tools"))
            marks.append((max(at + length for at, length in places), "form"))
        asked = str(self._inputs.get("input", ""))
        pad = self.scratchpad
        at_pad = text.rfind(pad) if pad.strip() else -1
        at_question = text.rfind(asked, 0, at_pad if at_pad >= 0 else None) if asked else -1
        if at_question >= 0:
            marks.append((text.rfind("\n", 0, at_question) + 1, "question"))
        if at_pad >= 0:
            marks.append((at_pad, "steps"))
        marks.sort(key=lambda mark: mark[0])
        ends = [at for at, _ in marks[1:]] + [len(text)]
        return [(name, text[at:end]) for (at, name), end in zip(marks, ends, strict=True)]

    def _read(self, words: str) -> Any:
        """Read words as the agent reads its model's."""
        agent = self.agent
        try:
            if hasattr(agent, "_read"):
                chats = not hasattr(agent, "llm_chain")
                return agent._read(reply_of(words, ()) if chats else words)
            return agent.output_parser.parse(words)
        except OutputParserException as error:
            return self._executor._misread(error)

    # Editing.

    def _edit_action(self, tool: str | None, given: str | dict[str, Any] | None, call: int) -> None:
        request = self._request
        if not isinstance(request, Call):
            msg = "No action is planned that could be changed: call plan() first."
            raise ValueError(msg)  # noqa: TRY004 - it is no wrong type, but too early or too late
        actions = list(request.actions)
        _check_call(call, len(actions))
        dialect = getattr(self.agent, "dialect", None)
        changed = _changed(actions, call, tool, given, dialect)
        # The events of the plan name the actions as they are done.
        now = {id(before): after for before, after in zip(actions, changed, strict=True)}
        entry, actions = self._entries[-1], changed
        events = tuple(
            (kind, at, owner, run_id, (now.get(id(what[0]), what[0]), *what[1:]) if what else what)
            for kind, at, owner, run_id, what in entry.events
        )
        reply = actions[0] if isinstance(entry.reply, AgentAction) else actions
        self._entries[-1] = replace(entry, reply=reply, events=events)
        self._rebuild()

    def _edit_observation(self, observation: Any, call: int) -> None:
        if not self._entries or not isinstance(self._entries[-1].request, Call):
            msg = "There is no observation to change: call act() first."
            raise ValueError(msg)
        entry = self._entries[-1]
        steps = list(entry.reply)
        _check_call(call, len(steps))
        steps[call] = (steps[call][0], observation)
        at = entry.events[-1][1] if entry.events else 0.0
        told: Event = ("steps", at, None, None, (steps,))
        self._entries[-1] = replace(entry, reply=steps, events=(*entry.events, told))
        self._rebuild()

    @property
    def _last(self) -> StepRecord | None:
        steps = self.record.steps
        return steps[-1] if steps else None

    def _last_or_refuse(self, what: str) -> StepRecord:
        last = self._last
        if last is None:
            msg = f"There is no `{what}` yet: the model has said nothing. Call plan() first."
            raise ValueError(msg)
        return last


def _executor(agent: Any, tools: Sequence[BaseTool] | None) -> "AgentExecutor":
    from langchain_custom_agents.agents.executor import AgentExecutor

    if isinstance(agent, AgentExecutor):
        return agent
    if tools is None:
        tools = getattr(agent, "tools", None)
    if tools is None:
        msg = "Stepper needs `tools`: the tools that the agent was made with."
        raise ValueError(msg)
    inner = getattr(agent, "agent", agent) if hasattr(agent, "tools") else agent
    return AgentExecutor(agent=inner if hasattr(inner, "plan") else agent, tools=list(tools))


@dataclass
class _Heard:
    events: list[Event] = field(default_factory=list)
    artifacts: list[tuple[AgentAction, Any]] = field(default_factory=list)


class _Listening(_Heard):
    """Hears what happens in one move, as a part of the stepper's run."""

    def __init__(self, stepper: Stepper, handlers: Sequence[BaseCallbackHandler] = ()) -> None:
        super().__init__()
        self._stepper = stepper
        recorder = Recorder()
        self._run = Events(uuid.uuid4(), None)
        recorder._under[self._run.run_id] = self._run, None, None  # type: ignore[index]
        # Who halts the call comes last: it is heard first.
        heard = [recorder, *stepper._callbacks, *handlers]
        given: dict[str, Any] = {
            "run_id": self._run.run_id,
            "handlers": heard,
            "inheritable_handlers": list(heard),
        }
        self.manager = CallbackManagerForChainRun(**given)
        self.amanager = AsyncCallbackManagerForChainRun(**given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.events = self._run.events
        for manager in (self.manager, self.amanager):
            self.artifacts += self._stepper._executor._notes(manager).artifacts


class _HaltedError(BaseException):
    """Ends a call before it is made. No `except Exception` on the way may hold it up."""

    def __init__(self, heard: Any, about: Mapping[str, Any]) -> None:
        super().__init__()
        self.heard, self.about = heard, about


class _Halt(BaseCallbackHandler):
    """Ends a model call when it is announced."""

    run_inline = True
    raise_error = True

    def on_llm_start(self, serialized: Any, prompts: list[str], **kwargs: Any) -> None:  # noqa: ARG002
        raise _HaltedError(prompts[0], kwargs)

    def on_chat_model_start(
        self,
        serialized: Any,  # noqa: ARG002
        messages: list[list[BaseMessage]],
        **kwargs: Any,
    ) -> None:
        raise _HaltedError(messages[0], kwargs)


def _by_hand(heard: Any, words: str) -> _Heard:
    """Return the events of a model call that was not made."""
    at, run_id = time.perf_counter(), uuid.uuid4()
    said = LLMResult(generations=[[Generation(text=words)]])
    asked: Event = ("ask", at, None, run_id, (heard, BY_HAND, None))
    return _Heard([asked, ("said", at, None, run_id, (said,))])


def _move(planned: Any) -> Move | tuple[Action, ...]:
    """Return what was planned as the dialects say it."""
    if isinstance(planned, Misread):
        return Misreading(planned.words, planned.correction)
    if isinstance(planned, AgentFinish):
        values = planned.return_values
        return Answer(str(values.get("output", next(iter(values.values()), ""))))
    if isinstance(planned, AgentAction):
        return Action(planned.tool, planned.tool_input)
    moves = tuple(Action(action.tool, action.tool_input) for action in planned)
    return moves[0] if len(moves) == 1 else moves


def _check_call(call: int, count: int) -> None:
    if not 0 <= call < count:
        msg = f"`call` is {call}; of {counted(count, 'call')}, 0 is the first."
        raise ValueError(msg)


def _changed(
    actions: Sequence[AgentAction],
    call: int,
    tool: str | None,
    given: str | dict[str, Any] | None,
    dialect: Dialect | None,
) -> list[AgentAction]:
    """Return the actions of a reply with one of them changed, as if the model had said it so."""
    action = actions[call]
    tool = action.tool if tool is None else tool
    given = action.tool_input if given is None else given
    update: dict[str, Any] = {"tool": tool, "tool_input": given}
    if dialect is not None:
        thought = dialect.read(action.log, Toolbox.of([action.tool])).thought
        update["log"] = (
            dialect.write(thought, Action(tool, given)).removeprefix(dialect.cue).strip()
        )
    log = [_with_call(message, call, tool, given) for message in getattr(action, "message_log", ())]
    # The calls of one reply share its message.
    shared = {"message_log": log} if log else {}
    return [
        other.model_copy(update={**shared, **update} if other is action else shared)
        for other in actions
    ]


def _log(dialect: Dialect, thought: str, action: Action) -> str:
    """Return what a model says when it goes on from the cue."""
    return dialect.write(thought, action).removeprefix(dialect.cue).strip()


def _with_call(message: Any, call: int, tool: str, given: Any) -> Any:
    """Return the model's message with one call changed."""
    said = call_data(message)
    if not said:
        return message
    args = given if isinstance(given, dict) else {"__arg1": given}
    changed = [
        {**one, "name": tool, "args": args} if at == call else one for at, one in enumerate(said)
    ]
    return reply_of(str(message.text), changed)
