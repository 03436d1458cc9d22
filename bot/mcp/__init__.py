"""The MCP server: what is stored and what one-shot commands read, as read-only tools for people's agents."""
