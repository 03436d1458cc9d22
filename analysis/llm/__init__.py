"""The only door to chat models, on any OpenAI-compatible server."""

from analysis.llm.chat import ChatModel, ModelMessage, UsageCounter, size_of
from analysis.llm.errors import ToolsRefused
from analysis.llm.tool_calls import Tool, ToolCall
