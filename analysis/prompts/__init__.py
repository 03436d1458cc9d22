"""What models are asked. Templates hold the words; the code that fills them is `analysis.analyse`."""

# Raised whenever a prompt or a form changes, so that analyses are made anew. Part of an analysis's key.
VERSION = "1"
