"""Secrets of every kind that we promise to find, put together from random parts, so that no scanner takes them for real."""

import base64
import string
from collections.abc import Callable
from random import Random
from typing import NamedTuple

_UPPER, _LOWER, _DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
_ANY = string.ascii_letters + _DIGITS
_HEX = "0123456789abcdef"


class Planted(NamedTuple):
    """A text as a file, a message or a log has it, and the part of it that nobody may see."""

    text: str
    secret: str


def planted(seed: int = 5) -> dict[str, Planted]:
    """Return a secret of each kind, by the kind's name; other ones with another seed."""
    random = Random(seed)

    def made(length: int, alphabet: str = _ANY) -> str:
        return "".join(random.choices(alphabet, k=length))

    def encoded(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def token(prefix: str, length: int, alphabet: str = _ANY, end: str = "") -> Planted:
        found = prefix + made(length, alphabet) + end
        return Planted(f'client = connect("{found}")', found)

    def around(before: str, secret: str, after: str = "") -> Planted:
        return Planted(before + secret + after, secret)

    def password() -> str:
        return made(15) + made(3, _DIGITS)  # one of letters alone may be a word, and is not promised

    header, claims = encoded('{"alg":"HS256","typ":"JWT"}'), encoded('{"sub":"1234567890","name":"Ada"}')
    key_lines = [made(64) for _ in range(4)]
    mark = "-" * 5
    known = f"ghp_{made(36)}"
    escaped = password()
    kinds: dict[str, Callable[[], Planted]] = {
        "AWS access key": lambda: token("AKIA", 16, _UPPER + "234567"),
        "AWS secret key": lambda: around("AWS_SECRET_ACCESS_KEY=", made(40)),
        "GitHub token": lambda: token("ghp_", 36),
        "GitLab token": lambda: token("glpat-", 20),
        "Slack token": lambda: token(f"xoxb-{made(12, '123456789')}-{made(12, '123456789')}-", 24),
        "Slack webhook": lambda: around("", f"https://hooks.slack.com/services/T{made(8, _UPPER + _DIGITS)}/B{made(8, _UPPER + _DIGITS)}/{made(24)}"),
        "Hugging Face token": lambda: token("hf_", 34, string.ascii_letters),
        "OpenAI key": lambda: token(f"sk-proj-{made(74)}T3Blbk" + "FJ", 74),
        "Anthropic key": lambda: token("sk-ant-api03-", 93, end="AA"),
        "Google key": lambda: token("AIza", 35),
        "npm token": lambda: token("npm_", 36),
        "PyPI token": lambda: token("pypi-AgEIcHlwaS5vcmc", 150),
        "Stripe key": lambda: token("sk_" + "live_", 24),
        "SendGrid key": lambda: token(f"SG.{made(22)}.", 43),
        "Telegram token": lambda: token(f"{made(9, '123456789')}:AA", 33),
        "DigitalOcean token": lambda: token("dop_v1_", 64, _HEX),
        "JWT": lambda: token(f"{header}.{claims}.", 43),
        "private key": lambda: Planted("\n".join([f"{mark}BEGIN RSA PRIVATE KEY{mark}", *key_lines, f"{mark}END RSA PRIVATE KEY{mark}"]), key_lines[1]),
        "key on one line": lambda: Planted(f'"private_key": "{mark}BEGIN PRIVATE KEY{mark}\\n' + "\\n".join(key_lines[2:]) + f'\\n{mark}END PRIVATE KEY{mark}\\n"', key_lines[3]),
        "password in a URL": lambda: around("postgresql://app:", password(), "@db.internal:5432/main"),
        "netrc": lambda: around("machine git.internal login ada password ", password()),
        "connection string": lambda: around("Server=db;Database=main;User Id=app;Password=", password(), ";Encrypt=yes"),
        "Azure account key": lambda: around("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", made(86) + "==", ";"),
        "basic authorization": lambda: around("Authorization: Basic ", encoded(f"ada:{made(24)}")),
        "bearer authorization": lambda: around("Authorization: Bearer ", made(40)),
        "npmrc": lambda: around("//registry.internal/:_authToken=", made(36)),
        "docker login": lambda: around('{"auths": {"registry.internal": {"auth": "', encoded(f"ada:{made(25)}"), '"}}}'),
        "password in a file": lambda: around("DB_PASSWORD=", password()),
        "password of mysql": lambda: around("RUN mysql -u root -p", password(), " shop"),
        "password of sshpass": lambda: around("sshpass -p '", password(), "' ssh ada@db.internal"),
        "pgpass": lambda: around("db.internal:5432:main:app:", password()),
        "PuTTY key": lambda: Planted("\n".join(["PuTTY-User-Key-File-3: ssh-rsa", "Public-Lines: 1", made(64), "Private-Lines: 2", *key_lines[:2][::-1], "Private-MAC: " + made(64, _HEX)]), key_lines[0]),
        "cookie": lambda: around("curl -H 'Cookie: lang=en; session=", password(), "' https://db.internal"),
        "escaped password in a URL": lambda: Planted(f'"postgresql+asyncpg://ada@db:p%40{escaped}@db/main", "p@{escaped}"', f"p@{escaped}"),
        "token in a Kubernetes Secret": lambda: around("kind: Secret\ndata:\n  token: ", encoded(known)),
        "token in hexadecimal": lambda: around("token=0x", known.encode().hex()),
    }  # fmt: skip
    return {name: make() for name, make in kinds.items()}
