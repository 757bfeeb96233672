"""What agents, dialects and documents are called on the command line: no LangChain is imported."""

AGENTS = {
    "react": "zero-shot-react-description",
    "docstore": "react-docstore",
    "self-ask": "self-ask-with-search",
    "conversational": "conversational-react-description",
    "chat": "chat-zero-shot-react-description",
    "chat-conversational": "chat-conversational-react-description",
    "structured": "structured-chat-zero-shot-react-description",
    "functions": "openai-functions",
    "multi-functions": "openai-multi-functions",
}
"""LangChain's names of the nine agent types, by short name."""

DIALECTS = {
    "english": "Thought, Action, Action Input, Final Answer.",
    "japanese": "The same in Japanese: 思考, 行動, 行動の入力, 最終回答.",
    "chinese": "The same in Chinese: 思考, 行动, 行动输入, 最终答案.",
    "bracketed": "The ReAct paper's: Action: Search[term], Action: Finish[answer].",
    "bracketed-ja": "The same in Japanese: 行動: Search[語], 行動: 完了[答え].",
    "bracketed-zh": "The same in Chinese: 行动: Search[词], 行动: 完成[答案].",
    "json": "An action is a JSON object in a fence; tools may take several arguments.",
    "self-ask": "Follow up questions and intermediate answers; one search tool.",
    "conversational": "Thought: Do I need to use a tool? For a chat in which tools are rare.",
}
"""What the dialects are, by name."""

TEXT = (".txt", ".md", ".rst")
"""How the names of documents end that are read as they stand."""

CONVERTED = (".pdf", ".docx", ".html", ".htm")
"""How the names of documents end that are converted, with the extra `docs`."""
