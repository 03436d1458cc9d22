"""Slack: what is said there, how it gets there, and what people ask for."""
