"""LangChain's own tests of agents, run with our classes in place of stock's."""
