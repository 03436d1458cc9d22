"""The only door to chat models, on any OpenAI-compatible server."""

from analysis.llm.chat import ChatModel, Message, UsageCounter

__all__ = ["ChatModel", "Message", "UsageCounter"]
