"""Detection of instructions in a text to its reader, a model or the ranking: they are data and never followed."""

import re
from functools import lru_cache

from analysis.text import as_read, place_in

INSTRUCTIONS = (
    r"\b(?:ignore|disregard|forget|override)\b[^.。\n]{0,30}\b(?:instructions|directions|guidelines)\b",
    r"\b(?:ignore|disregard|forget)(?: (?:all|any|your|the|my|of|previous|prior|earlier|above|everything))+(?: (?:prompts?|rules|messages?|text|above))?\b",
    r"\bsystem prompt\b",
    r"\bas an (?:AI|artificial intelligence)\b",
    r"\bas a (?:large )?language model(?=[ ]?[,，]| I\b)",
    r"\bI(?: am|'m) (?:an? (?:AI|(?:large )?language model|assistant)|sorry|unable)\b",
    r"\b(?:you are|act as) (?:now )?an? (?:AI|assistant|language model|helpful|chatbot|bot)\b",
    r"\b(?:my|the above|the previous|prior) (?:instructions|prompt)\b",
    r"(?:忽略|无视|忘记|不要理会)[ ]?(?:(?:你|之前|以上|上述|前面|此前|先前|所有|一切|全部|任何|给|的|到)[ ]?){1,6}(?:指令|指示|提示|要求|规则|内容|说明|限制)",
    r"系统提示",
    r"作为(?:一个|一名|一款)?[ ]?(?:AI|人工智能|大?型?语言模型)(?:助手|语言模型|模型)?(?=[ ]?[，,]|我)",
    r"我是(?:一个|一名|一款)?[ ]?(?:AI|人工智能|大?型?语言模型|智能助手|助手)",
)
CHAT_MARKS = (
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|return|start|message|channel)\|>",
    r"\[/?INST\]",
    r"<</?SYS>>",
)

_TIERS = r"(?:high\w*|low\w*|medium|critical|urgent|important|importance|(?:top )?priority|top|tier|severity|security)(?![\w-])"
_THIS = r"(?:this|it|me|(?:the|my) (?:commit|change|pull request|pr|patch)|importance|tier|score|move)"
_RANK = r"\b(?:rank|rate|classify|score|treat|promote|elevate|prioriti[sz]e)(?:s|d|ed)?"
_SUBJECTS = (r"\bsystem prompt\b", r"系统提示")  # a change may legitimately be about one
_TO_RANKING = (
    rf"{_RANK}(?: \w+){{0,3}}? (?:this|it|me|as|to|with)\b[^.\n]{{0,50}}\b{_TIERS}",
    rf"{_RANK}(?: \w+)? {_TIERS}",
    rf"\b(?:mark|move|set|put|raise|label|flag|list|consider|report|call|make|keep|count)\b[^.\n]{{0,15}}\b{_THIS}\b[^.\n]{{0,40}}\b(?:{_TIERS}|(?:up|down)\b)",
    rf"\bthis (?:commit|change|pull request|pr|patch)\b[^.\n]{{0,20}}\b(?:is|must|should|has to|needs to|deserves)\b[^.\n]{{0,40}}\b{_TIERS}",
    r"\b(?:you|(?:the|dear) (?:model|assistant|ai|llm|bot|ranker|ranking|analyst|digest|reader))\b[^.\n]{0,10}\b(?:must|should|shall|have to|need to|are (?:now|required|to))\b",
    r"\b(?:say|pretend|claim|report|tell (?:users?|everybody|everyone|people|the readers?)) that\b",
    r"\b(?:new|updated|hidden|further) (?:rules|instructions)\b",
    r"(?-i:\b(?:IMPORTANT|ATTENTION|URGENT|SYSTEM|ASSISTANT|OVERRIDE|END OF (?:DATA|INPUT|COMMIT|PROMPT))\b)",
    r"\b(?:system|assistant|user)\s*[:：]",
    r"#+ ?(?:instructions?|system)\b",
    r"</?(?:data|commit|system|instructions?)>",
    r"\"(?:move|importance|tier|score)\"\s*:",
    r"\b(?:every(?:one|body)|(?:all|every) (?:users?|operators?|admin\w*|readers?))\b[^.\n]{0,30}\b(?:must|should|have to|needs? to)\b[^.\n]{0,30}\b(?:run|execute|install|download|paste)\b",
    r"\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
    r"(?:把|将|请|务必|必须)[^。\n]{0,20}(?:标|评|列|排|视|归|定|算)(?:记|级|为|作|成|到)",
)
_EVERY = "|".join(each for each in (*INSTRUCTIONS, *CHAT_MARKS, *_TO_RANKING) if each not in _SUBJECTS)
# Each begins at a word or a sign: all other positions, most of a text, are skipped at once.
_INSTRUCTION = re.compile(rf"(?=\b\w|[^\w\s]|[^\x00-\x7f])(?:{_EVERY})", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.;!?](?=\s)|[。；！？\n]")
_SENTENCE = re.compile(r"\S.*?(?:[.;!?](?=\s)|[。；！？\n]|\Z)", re.DOTALL)
_WORD = re.compile(r"\w{2}")


@lru_cache(maxsize=256)  # a title is checked more than once
def without_instructions(text: str) -> str:
    """Return `text` up to the first instruction to its reader; if it begins with one, the text after that sentence.

    An instruction in letters that look like those of its plain form is one, too.
    """
    while match := _INSTRUCTION.search(as_read(text)):
        before = text[: place_in(text, match.start())]
        if _WORD.search(before):
            return before.rstrip(" \t\n,:;-–—([")
        end = _SENTENCE_END.search(text, place_in(text, match.end()))
        if end is None:
            return ""
        text = text[end.end() :].lstrip()
    return text


def without_instructions_by_sentence(text: str) -> str:
    """Return a text without the sentences that hold an instruction to their reader: a part of one would read oddly."""
    return _SENTENCE.sub(lambda each: each[0] if without_instructions(each[0]) == each[0] else "", text).strip()
