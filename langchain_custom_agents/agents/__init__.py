"""Agents to put where the stock ones stood."""
