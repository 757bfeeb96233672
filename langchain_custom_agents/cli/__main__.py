"""Lets `python -m langchain_custom_agents.cli` be the command line."""

from langchain_custom_agents.cli import main

main()
