"""Greetings and thanks: what people say to a bot before or after they ask for something."""

import re
from typing import Literal

_HELLO = (
    r"hi|hiya|hello|hey|howdy|greetings|(?:good )?(?:morning|afternoon|evening)|good day"
    r"|(?:are you|anyone|anybody) there|在吗|在不在|有人吗|你好|您好|嗨|哈喽|哈啰|大家好|早|早安|早上好|上午好|中午好|下午好|晚上好"
)
_THANKS = (
    r"thanks|thank you|many thanks|thx|ty|cheers|bye|goodbye|see you|ok|okay|great|cool|nice|perfect|awesome|good (?:job|bot)|well done|got it"
    r"|谢谢|多谢|感谢|谢了|辛苦[了啦]|再见|拜拜|好的?|收到|明白了|太好了|太棒了|不错|可以了"
)
_BEFORE = r"(?:(?:ok|okay|oh|ah|great|cool|nice|perfect|got it|好的?|太好了|明白了|收到) ?)*"
_AFTER = (
    r"(?: ?(?:there|again|all|everyone|everybody|folks|team|bot|you|a lot|so much|very much|that (?:helped|helps)"
    r"|(?:that was )?(?:very )?(?:helpful|useful)"
    r"|for (?:the|your|this|that)(?: quick| great| detailed)? (?:help|answer|reply|digest|summary|report|update|info|explanation)"
    r"|啊|呀|哈|啦|你们?|您|大家|各位))*"
)
_GREETING = re.compile(f"{_BEFORE}(?:(?P<hello>{_HELLO})|(?P<thanks>{_THANKS})){_AFTER}")
EMOJI_NAME = re.compile(r":[a-z0-9_+-]+:")  # as Slack sends emoji


def greeting_in(text: str) -> Literal["", "hello", "thanks"]:
    """Return whether a text is nothing but a greeting or thanks; emoji and punctuation are ignored."""
    words = re.sub(r"[\W_]+", " ", EMOJI_NAME.sub(" ", text.lower()).replace("'", "")).strip()
    match = _GREETING.fullmatch(words)
    if not match:
        return ""
    return "hello" if match["hello"] else "thanks"
