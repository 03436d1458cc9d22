"""Slack: message builders, delivery, and the handling of people's requests."""
