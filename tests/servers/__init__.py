"""Loopback servers that misbehave on demand."""
