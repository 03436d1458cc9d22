"""The vocabulary of the ranking: patterns for title tags, title words and repository areas, each a signal."""

import re


def _whole_words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(alternatives)})(?![\w-])", re.IGNORECASE)


def _title_start(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{'|'.join(alternatives)})(?![\w-])", re.IGNORECASE)


# Tags stand in brackets or before a colon at the start of a title: [Bugfix][Core], fix(api): ...
TAGS = {
    "tag: bug fix": _whole_words("bug", "bug ?-?fix(?:es)?", "hot ?fix", "fix"),
    "tag: feature": _whole_words("feat(?:ure)?s?", "new feature"),
    "tag: model": _whole_words("models?", "new models?"),
    "tag: performance": _whole_words("perf(?:ormance)?", "optimi[sz]ation"),
    "tag: kernel": _whole_words("kernels?", "attention", "cuda", "triton"),
    "tag: core": _whole_words(
        "core", "engine", "v1", "scheduler", "kv[ -]?connector", "kv cache", "spec decode", "model ?runner v\\d"
    ),
    "tag: frontend": _whole_words("frontend", "api", "openai", "entrypoints?", "server", "cli"),
    "tag: quantization": _whole_words("quantization", "quant", "moe", "lora"),
    "tag: what people see": _whole_words("ux", "dev ux", "metrics?", "observability", "usability"),
    "tag: platform": _whole_words("rocm", "amd", "xpu", "cpu", "tpu", "hardware", "intel", "nvidia", "arm"),
    "tag: refactor": _whole_words(
        "refactor(?:ing)?",
        "code ?quality",
        "cleanup",
        "clean[ -]?up",
        "chore",
        "misc",
        "minor",
        "ez",
        "style",
        "nit",
        "log",
    ),
    "tag: docs": _whole_words("docs?", "documentation"),
    "tag: tests or CI": _whole_words(
        "ci", "ci/?build", "build", "tests?", "testing", "release", "bench(?:mark)?s?", "mypy"
    ),
    "tag: deprecation": _whole_words("deprecat(?:e|ion|ed)", "breaking", "removal"),
}
TITLE_WORDS = {
    "words: adds support": _whole_words(
        "support(?:s|ing)?",
        "enable[sd]?",
        "introduce[sd]?",
        "implement(?:s|ed)?",
        "integrate[sd]?",
        "add(?:s|ed)? (?:new )?(?:model|api|endpoint)",
    ),
    "words: begins with add": _title_start("add(?:s|ed|ing)?", "allow(?:s|ed)?", "expose[sd]?"),
    "words: begins with fix": _title_start("fix(?:e[sd]|ing)?", "hot ?fix(?:e[sd]|ing)?"),
    "words: begins with an adjustment": _title_start(
        "updat(?:e[sd]?|ing)",
        "mak(?:e|es|ing)",
        "migrat(?:e|es|ed|ing)",
        "replac(?:e|es|ed|ing)",
        "skip(?:s|ped|ping)?",
        "ensur(?:e|es|ed|ing)",
        "correct(?:s|ed|ing)?",
        "pass(?:es|ed|ing)?",
        "split(?:s|ting)?",
        "pin(?:s|ned)?",
        "set(?:s|ting)?",
        "us(?:e|es|ed|ing)",
        "disabl(?:e|es|ed|ing)",
    ),
    "words: improves": _whole_words(
        "improv\\w+",
        "enhanc\\w+",
        "accelerat\\w+",
        "fus(?:e|es|ed|ing|ion)",
        "tun(?:e|es|ed|ing)",
    ),
    "words: removes what people use": re.compile(
        r"(?<![\w/-])(?:remov(?:e|es|ed|ing|al)|drop(?:s|ped)?|delet(?:e|es|ed)|deprecat\w+|disallow\w*|renam(?:e|es|ed))(?![\w-])"
        r".*?(?<![\w/-])(?:deprecated|(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)|--[a-z][\w-]+|env(?:ironment)?s?|variables?|metrics?"
        r"|fields?|arg(?:ument)?s?|param(?:eter)?s?|options?|flags?|endpoints?|routes?|backends?|fallbacks?|support)(?![\w-])",
        re.IGNORECASE,
    ),
    "words: number formats": _whole_words(
        "fp\\d+", "nvfp\\d+", "mxfp\\d+", "int[48]", "w\\d+a\\d+\\w*", "gguf", "awq", "gptq", "quanti[sz]\\w+"
    ),
    "words: adapters or speculation": _whole_words("lora", "eagle\\d?", "mtp", "spec(?:ulative)?[ -]?decod\\w+"),
    "words: removes or deprecates": _whole_words(
        "remov(?:e|es|ed|ing)", "drop(?:s|ped)?", "delet(?:e|es|ed)", "deprecat\\w+", "breaking", "no longer"
    ),
    "words: asks for more": _title_start("requir(?:e|es|ed|ing)", "mandat(?:e|es|ed|ing)"),
    "words: crash, hang or corruption": _whole_words(
        "crash(?:es|ed|ing)?",
        "hang(?:s|ing)?",
        "deadlocks?",
        "race(?: conditions?)?",
        "double[ -]free",
        "use[ -]after[ -]free",
        "leaks?",
        "memory leak",
        "oom",
        "out of memory",
        "corrupt\\w*",
        "segfaults?",
        "illegal memory",
        "nan",
        "accuracy",
        "wrong (?:output|result)s?",
        "regressions?",
        "stuck",
        "broken",
        "garbage",
        "overflow",
        "data loss",
    ),
    "words: security": _whole_words(
        "security",
        "cve",
        "ghsa",
        "vulnerab\\w+",
        "cve-\\d+-\\d+",
        "path traversal",
        "injection",
        "sanitiz\\w+",
        "rce",
        "ssrf",
    ),
    "words: faster": _whole_words(
        "speed[ -]?ups?",
        "faster",
        "optimi[sz](?:e|ed|es|ing|ation)",
        "reduce[sd]? (?:overhead|latency|memory)",
        "throughput",
        "\\d+(?:\\.\\d+)?[x%]",
    ),
    "words: a setting": _whole_words(
        "env(?:ironment)?[ -]?var(?:iable)?s?",
        "(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)",
        "--[a-z][\\w-]+",
        "cli (?:flag|option|argument)s?",
        "command.line (?:flag|option|argument)s?",
    ),
    "words: default": _whole_words("by default", "default(?:s|ed)?"),
    "words: upgrade": _whole_words(
        "bump(?:s|ed)?",
        "upgrade[sd]?",
        "update[sd]? (?:[\\w./-]+ ){0,3}?(?:to )?v?\\d[\\w.]*",
        "move[sd]? (?:[\\w./-]+ ){0,3}?(?:to )?v?\\d[\\w.]*",
        "pin(?:s|ned)?",
    ),
    "words: tidying": _whole_words(
        "typos?",
        "clean(?:s|ed|ing)?(?:[ -]?up)?",
        "renam(?:e|es|ed|ing)",
        "simplif\\w+",
        "minor",
        "nits?",
        "refactor\\w*",
        "unused",
        "dead code",
        "comments?",
        "formatting",
        "move[sd]?",
        "logs?",
        "logging",
        "lint",
        "pre-commit",
        "mypy",
        "docstrings?",
    ),
    "words: tests or CI": _whole_words(
        "tests?", "ci", "flak(?:y|e|iness)", "nightly", "pipeline", "workflow", "evals?", "buildkite", "de-?flake"
    ),
    "words: docs": _whole_words("docs?", "documentation", "readme", "example[s]?", "tutorial"),
    "words: revert": _whole_words("revert(?:s|ed)?"),
}
AREAS = {
    "touches scheduling or the engine": re.compile(
        r"(^|/)(core|engine|sched(?:uler)?|executor|worker|runtime|runner)(/|[^/]*\.\w+$)"
    ),
    "touches an interface": re.compile(
        r"(^|/)(entrypoints?|api|apis|server|serving|cli|openai|public|sdk|routes?|endpoints?)(/|[^/]*\.\w+$)"
    ),
    "touches configuration": re.compile(
        r"(^|/)(configs?|settings|envs?|args?_utils|arg_utils|options|defaults?)(/|\.\w+$)"
    ),
    "touches kernels": re.compile(r"(^|/)(csrc|kernels?|ops|cuda|cutlass|triton\w*|attention)(/|[^/]*\.\w+$)"),
    "touches models": re.compile(r"(^|/)models?/"),
    "touches layers": re.compile(r"(^|/)layers?(/|[^/]*\.\w+$)"),
    "touches distribution": re.compile(
        r"(^|/)(distributed|parallel|kv_transfer|connectors?|collectives?)(/|[^/]*\.\w+$)"
    ),
    "touches plug-in points": re.compile(
        r"(^|/)(plugins?|platforms?|registry|extensions?|interfaces?|protocols?)(/|[^/]*\.\w+$)"
    ),
}
