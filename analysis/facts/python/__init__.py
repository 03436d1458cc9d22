"""Facts about Python modules from what they declare before and after a commit.

A fact is yielded only if the thing cannot be found any more: neither under another binding nor inherited. What only its
own file uses is nobody else's break. Files that cannot be read whole are compared as far as the patch shows them.
"""
