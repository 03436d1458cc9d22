"""Facts drawn at random, and what somebody who did not write the rules said of each after reading its commit.

`OWNER-NAME-N.jsonl` is a draw: the fact, and its `verdict`: true, false or doubtful, with a `remark`.
"""
