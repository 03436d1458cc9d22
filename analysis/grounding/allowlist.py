"""The allowlist: words that a text may use about any commit (keywords, well-known libraries), units and routes.

Nothing here is specific to one repository.
"""

import builtins
import collections
import keyword
import typing

from analysis.wordlists import wordlist

WORDS = wordlist("code_words") | {
    *keyword.kwlist,
    *keyword.softkwlist,
    *(name for each in (builtins, typing, collections) for name in dir(each)),
    *(name for kind in (str, bytes, int, float, list, dict, set, tuple, object) for name in dir(kind)),
}
LIBRARIES = wordlist("libraries")
PRODUCTS = wordlist("products")
CUSTOMARY = wordlist("customary_names")
COMMANDS = wordlist("commands")
SUBCOMMANDS = wordlist("subcommands")
EXTENSIONS = sorted(wordlist("file_extensions"))
# Extensions that are never attribute names.
PLAIN_EXTENSIONS = frozenset({"py", "pyi", "md", "txt", "yaml", "yml", "toml", "sh", "cpp", "cuh", "ipynb"})
FOLDERS = wordlist("folders")
MACHINE_FOLDERS = wordlist("machine_folders")
ROUTES = tuple(f"v{version}/{name}" for version in (1, 2, 3) for name in wordlist("routes"))
TOP_LEVEL_DOMAINS = sorted(wordlist("top_level_domains"))
# The names of each unit. Words of more than one letter match in any case.
UNITS = {
    "%": "%|[(]%[)]|pct|percent|percentage points?|个百分点",
    "x": r"[xX](?![ ]?[A-Z\d])|×(?![ ]?[A-Z\d])|倍|-?fold\b|times (?:faster|slower|more|less|higher|lower|fewer)|times the",
    "ns": "ns|nanoseconds?|纳秒",
    "us": "us|µs|μs|microseconds?|微秒",
    "ms": "ms|msecs?|milliseconds?|毫秒",
    "s": "s|secs?|seconds?|秒钟?",
    "min": "mins?|minutes?|分钟",
    "h": "h|hrs?|hours?|小时",
    "KB": "KB|KiB|千字节",
    "MB": "MB|MiB|兆字节?",
    "GB": "GB|GiB|吉字节",
    "TB": "TB|TiB",
    "GB/s": "[KMGT]i?B/s",
    "tokens/s": "tok(?:en)?s?/s(?:ec)?|tokens? per second|tokens?/秒",
    "requests/s": "req(?:uest)?s?/s(?:ec)?|requests? per second|QPS|RPS",
    "FLOPS": "[KMGTP]?FLOPS?(?:/s)?",
}
