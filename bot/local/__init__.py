"""The bot without Slack and GitHub: the sample day, and a workspace on this machine.

This is the only package that imports `loopback`; it is not imported when the bot runs in a real Slack.
"""
