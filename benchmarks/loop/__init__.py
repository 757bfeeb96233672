"""What a step of the loop costs, beside LangChain's own."""
