"""Which of LangChain's test files are run, and which tests of theirs cannot hold for us."""

FILES: tuple[str, ...] = (
    "agents/test_agent.py",
    "agents/test_agent_async.py",
    "agents/test_agent_iterator.py",
    "agents/test_chat.py",
    "agents/test_initialize.py",
    "agents/test_mrkl.py",
    "agents/test_mrkl_output_parser.py",
    "agents/test_structured_chat.py",
    "agents/test_types.py",
    "agents/format_scratchpad/test_log.py",
    "agents/format_scratchpad/test_openai_functions.py",
    "agents/format_scratchpad/test_openai_tools.py",
    "agents/output_parsers/test_convo_output_parser.py",
    "agents/output_parsers/test_json.py",
    "agents/output_parsers/test_openai_functions.py",
    "agents/output_parsers/test_react_json_single_input.py",
    "agents/output_parsers/test_react_single_input.py",
    "agents/output_parsers/test_self_ask.py",
    "callbacks/test_file.py",
    "callbacks/test_stdout.py",
    "callbacks/tracers/test_logging.py",
)

_NO_TOOL = (
    "Pins that a tool which does not exist is run and counted as a step. Ours is told which tools "
    "there are and asked again: a correction is no step, no tool run and no round. "
    "AgentExecutor(strict=True) does as stock does."
)
_PAD = (
    "Pins the spelling of stock's scratchpad, which repeats what was logged. Ours is written by "
    "the dialect: cue, thought, action and input, without white space at a line's end."
)
_PROMPT = (
    "Pins the words and the class of stock's prompt. Ours is a template of its own, made of steps "
    "that its reader can read; prefix, suffix and the other parts are replaced all the same."
)
_WORDING = "Pins stock's wording. Ours names what is missing, the form and the tools."
_BOTH = (
    "Pins that stock refuses an action with an answer after it. Ours takes the action, or names "
    "the invented observation that the reply begins with."
)

DIFFERENCES: dict[str, str] = {
    "agents/format_scratchpad/test_log.py::test_single_agent_action_observation": _PAD,
    "agents/format_scratchpad/test_log.py::test_multiple_agent_actions_observations": _PAD,
    "agents/format_scratchpad/test_log.py::test_custom_prefixes": _PAD,
    "agents/format_scratchpad/test_log.py::test_empty_intermediate_steps": _PAD,
    "agents/format_scratchpad/test_openai_tools.py::test_calls_convert_agent_action_to_messages": (
        "Pins that a result carries its tool's name in additional_kwargs; ours carries it in the "
        "message's own field, `name`."
    ),
    "agents/output_parsers/test_openai_functions.py::test_func_call_invalid": (
        "Pins a refusal: arguments that are no JSON. Ours takes them as the text that they are for "
        "a tool of one text, or of which nothing is known, as here where the parser has no tools."
    ),
    "agents/output_parsers/test_react_json_single_input.py::test_action": (
        "Pins the line break at the end of the log; ours ends where the words end."
    ),
    "agents/output_parsers/test_react_single_input.py::test_action_with_finish": (
        "Pins a refusal: a label in a tool's name. Ours refuses the name where it knows the tools; "
        "this parser is given none."
    ),
    "agents/test_agent.py::test_agent_invalid_tool": _NO_TOOL,
    "agents/test_agent_async.py::test_agent_invalid_tool": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_iterator_stopped_early": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_async_iterator_stopped_early": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_iterator_with_callbacks": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_async_iterator_with_callbacks": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_iterator_custom_stopping_condition": _NO_TOOL,
    "agents/test_agent_iterator.py::test_agent_iterator_failing_tool": (
        "Pins that a tool's exception ends the run. In ours it is an observation, unless "
        "handle_tool_errors=False or strict=True."
    ),
    "agents/test_agent.py::test_agent_with_new_prefix_suffix": (
        "Pins the space after a cue in the suffix. In ours the cue belongs to the scratchpad, is "
        "written once, without it; prefix and suffix stand where they were put."
    ),
    "agents/test_mrkl.py::test_from_chains": _PROMPT,
    "agents/test_structured_chat.py::TestCreatePrompt::test_create_prompt_output": _PROMPT,
    "agents/test_structured_chat.py::TestCreatePrompt::test_system_message_single_tool": _PROMPT,
    "agents/test_structured_chat.py::TestCreatePrompt::test_system_message_multiple_tools": _PROMPT,
    "agents/test_mrkl.py::test_get_action_and_input_newline": (
        "Pins that a fence around the whole input is given to the tool. Ours gives the tool what "
        "stands in it."
    ),
    "agents/test_mrkl.py::test_get_action_and_input_newline_after_keyword": (
        "Pins a line break at the end of the input; ours has no white space around it."
    ),
    "agents/test_mrkl.py::test_valid_action_and_answer_raises_exception": _BOTH,
    "agents/test_mrkl_output_parser.py::test_final_answer_after_parsable_action": _BOTH,
    "agents/test_mrkl_output_parser.py::test_missing_action": _WORDING,
    "agents/test_mrkl_output_parser.py::test_missing_action_input": _WORDING,
    "agents/test_structured_chat.py::test_parse_case_matched_and_final_answer": (
        "Pins the white space at the end of the log; ours ends where the words end."
    ),
    "agents/test_structured_chat.py::test_parse_with_language_without_a_new_line": (
        "Pins that machine text is handed to the user as the answer (stock's own test asks how it "
        "should be handled). Ours reads the action."
    ),
}
