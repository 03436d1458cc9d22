"""Secrets that leave no trace, and code that stays. The secrets are put together here, so that no scanner takes them for real."""

import base64
import re
import string
import textwrap
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.models import PullRequest
from analysis.sources.secret_detection import _RUN, _SHORTEST_RUNS, _detectors
from analysis.sources.secrets import Redactor, redacted
from tests.factories import commit, file, patch
from tests.planted import planted
from tests.strategies import examples

LETTERS_AND_DIGITS = string.ascii_letters + string.digits
PEM = "-" * 5


def made(length: int, alphabet: str = LETTERS_AND_DIGITS) -> str:
    return "".join(Random(2).choices(alphabet, k=length))


def begin(kind: str = "RSA ") -> str:
    return f"{PEM}BEGIN {kind}PRIVATE KEY{PEM}"


def end(kind: str = "RSA ") -> str:
    return f"{PEM}END {kind}PRIVATE KEY{PEM}"


SECRETS = {
    "AWS access key": "AKIA" + made(16, string.ascii_uppercase + "234567"),
    "GitHub token": "ghp_" + made(36),
    "GitHub fine-grained token": "github_pat_" + made(22) + "_" + made(59),
    "GitLab token": "glpat-" + made(20),
    "Slack bot token": "xoxb-" + made(12, "123456789") + "-" + made(13, "123456789") + "-" + made(24),
    "Hugging Face token": "hf_" + made(34, string.ascii_letters),
    "OpenAI key": "sk-" + made(20) + "T3Blbk" + "FJ" + made(20),
    "OpenAI project key": "sk-proj-" + made(74) + "T3Blbk" + "FJ" + made(74),
    "Anthropic key": "sk-ant-api03-" + made(93) + "AA",
    "Google key": "AIza" + made(35),
    "npm token": "npm_" + made(36),
    "NVIDIA key": "nvapi-" + made(64),
    "JWT": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ." + made(43),
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("around", ["+TOKEN = '{}'", "see {} for it", '-    "key": "{}",', "+# {}"])
def test_a_token_of_a_known_kind_disappears(name: str, around: str) -> None:
    """A vendor's token is found by its form wherever it stands, and what stands around it is kept."""
    assert Redactor()(around.format(SECRETS[name])) == around.format("[REDACTED:1]")


SIGNS = [f"a {{}}{sign} b" for sign in "!#%&()*+,:<=>?@[]^{|}~;./\\-_…。，」"] + [
    "I used {}.", "login({})", "'hf': {}}", "Ada ({})", "?key={}&callback=init", "X={}, Y=/x", "**{}**", "`{}`", "密钥是{}。请保密", "“{}”",
    "{}是", "https://x:{}@h/", "/{}/", '\\"{}\\"', "%22 {}%22", "{}\\n", "--token {}| tee", "{}/v1", ">{}<", "x{}", "_{}_", "{}_v2", "{}-old",
]  # fmt: skip


@pytest.mark.parametrize(
    "kind", [kind for kind, (text, secret) in planted().items() if text in (secret, f'client = connect("{secret}")')]
)
def test_what_stands_beside_a_token_does_not_hide_it(kind: str) -> None:
    """A token known by its form is found before and behind any sign, letter and script."""
    secret = planted()[kind].secret
    assert not [around for around in SIGNS if secret[4:-4] in Redactor()(around.replace("{}", secret))]


@pytest.mark.parametrize(
    "name",
    [
        "task-ant-colony-optimization-with-a-long-name-of-the-algorithm",
        "hf_config_of_a_model_with_many_parameters",
        "xhf_AutoModelForCausalLM",
    ],
)
def test_names_that_begin_as_tokens_do_stay(name: str) -> None:
    """The prefix of a vendor's token alone makes no secret."""
    assert Redactor()(f"x = {name}.") == f"x = {name}."


@pytest.mark.parametrize("kind", planted())
def test_a_secret_of_every_kind_disappears_everywhere(kind: str) -> None:
    """Given away in one place of a commit, it is in no other either: patch, message, file name, author, pull request."""
    text, secret = planted()[kind]
    lines = patch(*(f"+{line}" for line in text.split("\n")))
    told = [
        commit("Do it", [file("a.env", lines), file("b.py", patch(f'+use("{secret}")')), file(f"{secret}.py")]),
        commit("Do it", body=f"I ran this:\n\n{text}\n\nand then {secret}"),
        commit("Do it", pull=PullRequest(number=1, title=f"Use {secret}", body=text), author=secret),
    ]
    for each in told:
        assert secret not in redacted(each).model_dump_json().replace("\\", "")


@pytest.mark.parametrize(
    "text",
    [
        # A name and its value as configuration, containers, commands and markup have them.
        "+API_KEY={}",
        '+api_key: "{}"',
        "+  client_secret = '{}'",
        "+config['auth_token'] = '{}'",
        "redis://:{}@cache:6379/0",
        "+- name: DB_PASSWORD\n+  value: {}",
        '{"name": "DB_PASSWORD", "value": "{}"}',
        '<add key="DbPassword" value="{}"/>',
        "<password>{}</password>",
        "ENV AWS_SECRET_ACCESS_KEY {}",
        "aws configure set aws_secret_access_key {}",
        "npm config set //registry.internal/:_authToken {}",
        "--password {}",
        "AWS_SECRET_ACCESS_KEY ?= {}",
        "password => {}",
        "AWS_SECRET_ACCESS_KEY_PROD={}",
        "AWS_SECRET_ACCESS_KEY1={}",
        "DB_PASSWORD2={}",
        "DB_PASS={}",
        "密码：{}",
        "API_TOKEN：{}。",
        'x = "{\\"AWS_SECRET_ACCESS_KEY\\": \\"{}\\"}"',
        "Server=db;Uid=app;Pwd={};Encrypt=yes",
        # A header in code.
        'headers["Authorization"] = "Bearer {}"',
        'set("Authorization", `Bearer {}`)',
        "AUTHORIZATION: BEARER {}",
        '"{\\"Authorization\\": \\"Bearer {}\\"}"',
        "Authorization=Bearer%20{}",
        # The words of `.netrc` in any order.
        "machine git.internal password {} login ada",
        "+machine git.internal\n+  password {}\n+  login ada",
        "+machine git.internal\n+  login ada\n+  password {}",
        "default password {} login ada",
        "machine git.internal login ada account x password {}",
        'login ada password "{}"',
        "postgresql://app:Zq@{}@db.internal:5432/main",
        "https://:{}@git.internal/x?a=b@c",
        "postgresql+asyncpg://ada@example.com:{}!s@db/main",
        "https://host/?next=https%3A%2F%2Fada%40x%3A{}%40git.internal%2Fx",
        # What commands are given.
        "-mysql -u root -p{} shop",
        "mysqldump -h db \\\n+  -uroot -p{}",
        "/usr/bin/mariadb -p'{}' shop",
        'run(["mysql", "-uroot", "-p{}"])',
        'run(["sshpass", "-p", "{}", "ssh"])',
        "sshpass -v -p{} ssh ada@db",
        "echo '*:*:*:ada:{}' >> ~/.pgpass",
        # Cookies.
        "Set-Cookie: theme=dark; sid={}; Path=/; HttpOnly",
        'headers = {"Cookie": "sessionid={}; lang=en"}',
        "curl https://h \\\n+  -b 'session={}'",
    ],
)
def test_a_secret_is_found_however_it_is_written(text: str) -> None:
    """Formats differ in what stands between a name and its value, and all of it stays."""
    redacted = Redactor()(text.replace("{}", made(18)))
    assert redacted == text.replace("Zq@", "").replace("{}!s", "{}").replace("{}", "[REDACTED:1]")


@pytest.mark.parametrize("text", ["mysql -uroot -pchangeme", "sshpass -p changeme ssh h", "db:5432:main:ada:changeme"])
def test_a_password_that_is_a_word_goes_where_it_can_be_nothing_else(text: str) -> None:
    """What `-p` of mysql and sshpass is followed by, and the fifth field behind PostgreSQL's port, is a password."""
    assert Redactor()(text) == text.replace("changeme", "[REDACTED:1]")


@pytest.mark.parametrize("before", ["", " ", "x=", '{"key": "', "é:"])
@pytest.mark.parametrize("name", SECRETS)
def test_a_token_is_found_in_what_is_encoded(name: str, before: str) -> None:
    """In base64, also twice, and in hexadecimal a vendor's token is found wherever the encoded text has it."""
    plain = f"{before}{SECRETS[name]}\n".encode()
    encoded = base64.b64encode(plain)
    for digits in (
        encoded.decode(),
        base64.urlsafe_b64encode(plain).decode(),
        base64.b64encode(encoded).decode(),
        plain.hex(),
    ):
        for around in ("+x = '{}'", "  key: {}", "\\n{}", "0x{}"):
            assert max(map(len, re.findall(r"\w+", Redactor()(around.format(digits))))) < len(digits) / 2


def test_a_token_is_found_in_lines_of_base64() -> None:
    """Of a token that goes over from one line of base64 to the next neither is left."""
    text = f"DEBUG=1\nHOST=db.internal\nHF_TOKEN={SECRETS['Hugging Face token']}\n".encode()
    lines = [f"+  {line}" for line in textwrap.wrap(base64.b64encode(text).decode(), 76)]
    assert re.fullmatch(r"\+  \[REDACTED:\d\]\n\+  \[REDACTED:\d\]=*", Redactor()("\n".join(lines)))


def test_an_escaped_password_is_known_unescaped() -> None:
    """A URL's password has one number as the URL has it and as it is."""
    clean = redacted(
        commit("Log in", [file("a.py", patch('+u = "mysql://ada:p%40ss%21W0rd9@db/x"', '+login("p@ss!W0rd9")'))])
    )
    assert clean.files[0].patch == patch('+u = "mysql://ada:[REDACTED:1]@db/x"', '+login("[REDACTED:1]")')


@pytest.mark.parametrize(
    "text", ["API_TOKEN={}", '"access_token": "{}"', "Authorization: Bearer {}", "login ada password {}"]
)
def test_nothing_of_a_long_secret_is_left(text: str) -> None:
    """However long a value is, all of it goes."""
    assert Redactor()(text.replace("{}", made(5000))) == text.replace("{}", "[REDACTED:1]")


def test_a_short_password_of_netrc_goes() -> None:
    """An entry of .netrc leaves no doubt, so that its password may be of eight small letters and digits."""
    assert Redactor()("login ada password abc12345") == "login ada password [REDACTED:1]"


@pytest.mark.parametrize("password", ["Tr0ub4dor&3", "SV2EgdGk7Z", "s3cr3tPW"])
@pytest.mark.parametrize("text", ["DB_PASSWORD={}", "password: {}", "Server=db;Password={};Encrypt=yes"])
def test_a_short_password_of_mixed_kinds_goes(password: str, text: str) -> None:
    """Eight characters are enough for a password if letters of both cases and digits alternate in it."""
    assert Redactor()(text.replace("{}", password)) == text.replace("{}", "[REDACTED:1]")


@pytest.mark.parametrize(
    "line",
    [
        'api_key="EMPTY"',
        "PWD=/home/Ada123/work456",
        "DB_PASSWORD=Password1",
        "token = Model2Config4",
        "def encode(self, token):\n    Abc123Model4Config5(token)",
        "password=cfg[Key2Id4]",
        "bypass = Layer3Norm2Add",
        "tokenizer_revision = 0123456789abcdef0123456789abcdef01234567",
        "token_count, value = batch1234.size5678",
        "--tokenizer Qwen3-VL-235B-A22B",
        "--max-tokens 8192 --model Qwen3-VL-235B-A22B",
        "if tokens>Config123Abc456:",
        "The account of Ada needs a password before login.",
        "http://127.0.0.1:8000/@scope/name@1.2.3",
        'api_key = "token-abc123"',
        'password=os.environ["X"]',
        'password = getpass.getpass("Password: ")',
        'api_key = os.getenv("OPENAI_API_KEY", "")',
        "HF_TOKEN: ${{ secrets.HF_TOKEN }}",
        "HF_TOKEN=$HF_TOKEN",
        "HF_TOKEN=<your-token-goes-here-123>",
        "token = self.tokenizer.encode(prompt)",
        "token = tokens[i + 1]",
        "eos_token_id=128009",
        'pad_token = "<|endoftext|>"',
        'access_token=request.headers["x-access-token-1234"]',
        "max_tokens=8192",
        'model = "meta-llama/Llama-3.1-8B-Instruct"',
        '"Qwen/Qwen3-VL-235B-A22B-Instruct-FP8"',
        "    --hash=sha256:0f3b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a",
        'hash = "sha256:0f3b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a"',
        "- uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2",
        'rev = "0123456789abcdef0123456789abcdef01234567"',
        'curl -H "Authorization: Bearer $TOKEN"',
        '-H "Authorization: Bearer your-token-goes-here-123"',
        'headers = {"Authorization": f"Bearer {token}"}',
        "Authorization: Bearer EMPTY",
        '"auth": "username_and_password_as_base64"',
        "login ada password PASSWORD",
        "On login the password is checked.",
        "Co-authored-by: Ada <ada123456@example.com>",
        "http://127.0.0.1:8000/v1/completions",
        "https://host/?next=https%3A%2F%2Fhost%3A8080%2F%40scope%2Fname",
        "docker run --name mysql -p3306:3306 -d mysql -p 8000:8000",
        "cp -pr /var/lib/mysql -pxzf && mkdir -p build/output && ssh -p 2222 ada@host",
        "mysql -u root -p -P3306 shop",
        "mysql -uroot -p$PASSWORD && mysql -p${PASSWORD} -p'%s'",
        'run("mysql -uroot -p" + password)',
        'f"sshpass -p {password} ssh -p 2222"',
        'run(["sshpass", "-p", password, "ssh"])',
        "sshpass -e ssh ada@host mkdir -p build/output",
        "foo.py:5432:5:E501:line-too-long",
        "db:5432:main:ada:$PGPASSWORD",
        "2001:5432:abcd:face:beef:dead:cafe:0000",
        "arn:aws:logs:*:*:log-group:name",
        "Set-Cookie: theme=dark-mode; Max-Age=31536000; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "Cookie: session=<your-session-id-1234>; id=$SESSION_ID",
        "cookie = make_cookie(session=self.Session2Id4())",
        "PuTTY writes Private-Lines: 14 and Private-MAC: over them.",
        "aGVsbG8gd29ybGQsIHRoaXMgaXMgb3JkaW5hcnkgdGV4dCBvZiBhbnkgbGVuZ3Ro",
        "",
    ],
)
def test_ordinary_code_stays(line: str) -> None:
    """References, placeholders, hashes, names of models and numbers are no secrets."""
    assert Redactor()(line) == line


@pytest.mark.parametrize("sign", ["", "+", "-", " "])
@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_goes_and_its_lines_stay(sign: str, kind: str) -> None:
    """A key's lines are blanked one by one behind the diff's signs, so that the hunk stays whole."""
    body = [made(64), made(63), made(20) + "=="]
    lines = ["@@ -1,5 +1,5 @@", *(sign + line for line in [begin(kind), *body, end(kind)]), "+after"]
    redacted = Redactor()("\n".join(lines)).split("\n")
    assert len(redacted) == len(lines)
    assert [redacted[0], redacted[1], redacted[5], redacted[6]] == [lines[0], lines[1], lines[5], lines[6]]
    assert redacted[2:5] == [f"{sign}[REDACTED:1]"] * 3


@pytest.mark.parametrize("sign", ["", "+", "-", " "])
def test_a_long_private_key_keeps_its_lines_too(sign: str) -> None:
    """A key of the usual length leaves as many lines as one of three."""
    text = "\n".join(sign + line for line in [begin(), *[made(64)] * 25, end(), "after"])
    redacted = Redactor()(text)
    assert made(64) not in redacted
    assert redacted.count("\n") == text.count("\n")


def test_a_private_key_without_an_end_goes_to_the_last_line() -> None:
    """A patch that is cut inside a key leaves nothing of it."""
    lines = [f"+{begin()}", f"+{made(64)}", f"+{made(40)}"]
    assert Redactor()("\n".join(lines)).split("\n") == [lines[0], "+[REDACTED:1]", "+[REDACTED:1]"]


def test_a_private_key_on_one_line_goes() -> None:
    """A key written into a string with escaped breaks is a key as well."""
    body = made(64)
    redacted = Redactor()(f'+KEY = "{begin()}\\n{body}\\n{end()}"')
    assert body not in redacted
    assert redacted.startswith(f'+KEY = "{begin()}')


def key_lines(seed: int) -> list[str]:
    """The body of a key: three lines of full width, and a short one."""
    alphabet = LETTERS_AND_DIGITS + "+/"
    return ["".join(Random(seed + line).choices(alphabet, k=64)) for line in range(3)] + ["k" + "EyEnd" * 3 + "=="]


OLD, NEW, PUBLIC = key_lines(10), key_lines(20), key_lines(40)[0]
NO_NEWLINE = "\\ No newline at end of file"


@pytest.mark.parametrize(
    ("lines", "hidden"),
    [
        # A key that takes the place of one without a line break at its end: both have the BEGIN mark, and each its END.
        ([f" {begin()}", *(f"-{line}" for line in OLD), f"-{end()}", NO_NEWLINE, *(f"+{line}" for line in NEW), f"+{end()}"], [*OLD, *NEW]),
        ([f" {begin()}", *(f"-{line}" for line in OLD), f"-{end()}", NO_NEWLINE, f"+{NEW[0]}"], [*OLD, NEW[0]]),
        # Hunks that begin inside a key, whose earlier line git may repeat in the header.
        (["@@ -24,3 +24,4 @@", f" {OLD[1]}", f" {OLD[2]}", f" {OLD[3]}", f" {end()}", "+x = 1"], OLD[1:]),
        ([f"@@ -24,3 +24,4 @@ {OLD[0]}", f" {OLD[1]}", f"-{OLD[2]}", f"+{NEW[2]}", f" {end()}"], [*OLD[:3], NEW[2]]),
        (["@@ -8 +8 @@", f' "{OLD[0]}\\n"', f' "{end()}"'], [OLD[0]]),
        # An END mark inside a key: in a comment, or of another kind.
        (["key: |", f"  {begin()}", f"  # {end()}", *(f"  {line}" for line in OLD[:3])], OLD[:3]),
        ([begin(), *OLD[:1], end("EC "), *OLD[1:], end()], OLD),
        # A key of PuTTY, and of another hunk only what is beside its marks.
        ([" Public-Lines: 1", f" {PUBLIC}", " Private-Lines: 3", f" {OLD[0]}", f"-{OLD[1]}", f"+{NEW[1]}", f" {OLD[3]}", "-Private-MAC: 0f", "+Private-MAC: 1f"], [*OLD[:2], NEW[1], OLD[3]]),
        ([f"@@ -9,2 +9,2 @@ {OLD[0]}", f" {OLD[2]}", f" {OLD[3]}", " Private-Hash: 0f"], [OLD[0], *OLD[2:]]),
        (["@@ -4,2 +4,2 @@ Comment: x", f" {PUBLIC}", "+Private-Lines: 3", f"+{OLD[0]}", f"+{OLD[1]}"], OLD[:2]),
        ([">Private-Lines: 2", f">{OLD[0]}", f">{OLD[3]}", ">Private-MAC: 0f"], [OLD[0], OLD[3]]),
        ([f"Private-Lines: 2 {OLD[0]} {OLD[3]} Private-MAC: 0f"], [OLD[0], OLD[3]]),
        ([f'KEY = "Private-Lines: 2\\n{OLD[0]}\\n{OLD[3]}\\nPrivate-MAC: 0f\\n"'], [OLD[0], OLD[3]]),
    ],
)  # fmt: skip
def test_an_end_mark_gives_away_the_lines_around_it(lines: list[str], hidden: list[str]) -> None:
    """Beside the END mark of a private key nothing of any key stays, also where its BEGIN mark is not shown or another key's."""
    redacted = Redactor()("\n".join(lines))
    assert not [line for line in hidden if line in redacted]
    kept = [line for line in lines if not any(each in line for each in [*hidden, "PRIVATE KEY"])]
    assert [line for line in redacted.split("\n") if "REDACTED" not in line and "PRIVATE KEY" not in line] == kept
    assert redacted.count("\n") == len(lines) - 1


def test_words_beside_an_end_mark_stay() -> None:
    """Code and prose around the mark of a key are not taken for its lines."""
    text = f"@@ -1,4 +1,4 @@ def parse\n     return\n-{end()}\n+{end('EC ')}\n pass\n # sha256\n"
    assert Redactor()(text) == text


@pytest.mark.parametrize("path", ["deploy/tls.key", "ca.pem", "home/.ssh/id_ed25519", "AuthKey.p8"])
def test_the_middle_of_a_key_goes_in_a_file_of_keys(path: str) -> None:
    """A hunk without either mark is part of a key if its file is one; the same lines elsewhere are data, unless they recur."""
    hunk = [f"@@ -5,3 +5,3 @@ {OLD[0]}", f" {OLD[1]}", f"-{OLD[2]}", f"+{NEW[2]}"]
    image = patch(*(f"+{line}" for line in key_lines(30)))
    clean = redacted(commit("Renew", [file(path, "\n".join(hunk)), file("image.txt", image)]))
    assert clean.files[0].patch == "\n".join(
        [f"{hunk[0][:16]}[REDACTED:1]", *(f"{sign}[REDACTED:1]" for sign in " -+")]
    )
    assert clean.files[1].patch == image


def test_the_same_secret_has_the_same_number() -> None:
    """Within one commit a secret is known again, also in another text, and a new one counts on."""
    redact = Redactor()
    first, second = SECRETS["GitHub token"], SECRETS["Hugging Face token"]
    assert redact(f"{first} {first}") == "[REDACTED:1] [REDACTED:1]"
    assert redact(f"a {second}") == "a [REDACTED:2]"
    assert redact(f"b {first}") == "b [REDACTED:1]"
    assert Redactor()(second) == "[REDACTED:1]"


@given(
    st.lists(
        st.sampled_from([*SECRETS.values(), "+code = 1", "-", " kept", "API_KEY=" + made(24)]),
        max_size=12,
    )
)
def test_lines_are_never_lost(lines: list[str]) -> None:
    """Whatever is taken out, the text has as many lines as before, and none of the tokens."""
    text = "\n".join(lines)
    redacted = Redactor()(text)
    assert redacted.count("\n") == text.count("\n")
    assert not any(secret in redacted for secret in SECRETS.values())


def test_redacting_again_changes_nothing() -> None:
    """A placeholder is no secret, so that a stored text may be redacted anew."""
    redact = Redactor()
    once = redact(f"API_KEY={made(24)}\n{SECRETS['GitHub token']}\n{begin()}\n{made(64)}\n{end()}")
    assert Redactor()(once) == once


AWS_KEY = "YZxsKgCnB6nhdddVkMR" + "jMcIFLpuch/HsXAPmEmpC"


@pytest.mark.parametrize("place", ["message", "path", "previous_path", "title", "body"])
def test_it_does_not_matter_which_text_gives_a_secret_away(place: str) -> None:
    """Whichever text names the secret, the others that only hold it are redacted too."""
    told = {place: f"AWS_SECRET_ACCESS_KEY={AWS_KEY}"}
    files = [
        file(told.get("path", "a.env"), was=told.get("previous_path")),
        file("client.py", patch(f'+connect("{AWS_KEY}")')),
    ]
    pull = PullRequest(number=1, title=told.get("title", "t"), body=told.get("body", ""))
    clean = redacted(commit(told.get("message", "Do it"), files, pull=pull))
    assert AWS_KEY not in clean.model_dump_json()
    assert clean.files[1].patch == patch('+connect("[REDACTED:1]")')


@pytest.mark.parametrize(
    "password", ["s3cr3tPW", "Tr0ub4dor&3", "hunter2hunter2", made(12), made(20), made(32, "0123456789abcdef")]
)
def test_a_password_is_redacted_wherever_it_recurs(password: str) -> None:
    """What can only be a password is redacted also where nothing around it says so."""
    files = [
        file("a.py", patch(f'+u = "postgres://app:{password}@db/main"')),
        file("b.py", patch(f'+connect("{password}")')),
    ]
    assert [each.patch for each in redacted(commit("Do it", files)).files] == [
        patch('+u = "postgres://app:[REDACTED:1]@db/main"'),
        patch('+connect("[REDACTED:1]")'),
    ]


@pytest.mark.parametrize(
    "word",
    [
        "test",
        "password",
        "postgres",
        "changeme",
        "admin123",
        "password123",
        "token-abc123",
        "llama-3.1-8b-instruct",
        "AsyncLLMEngine",
        "VLLM_USE_V1",
        "fp8_e4m3fn",
        "20260205120000",
        "python3.11",
    ],
)
def test_an_ordinary_word_as_a_password_stays_everywhere_else(word: str) -> None:
    """A word given as a password is redacted there alone: the same word in code, names and titles stays."""
    plain = commit(
        f"Rename {word}",
        [file(f"{word}/a.py", patch(f"+def run_{word}(): return {word!r}")), file("b.py", patch(f"-{word}"))],
        pull=f"All about {word}.",
    )
    url = file("c.py", patch(f'+u = "postgres://app:{word}@db/{word}"'))
    clean = redacted(plain.model_copy(update={"files": (*plain.files, url)}))
    assert clean.files[2].patch == patch(f'+u = "postgres://app:[REDACTED:1]@db/{word}"')
    assert clean.model_copy(update={"files": clean.files[:2]}) == plain


def test_a_private_key_is_known_again_by_its_lines() -> None:
    """The lines of a private key that stand elsewhere, in a block without its marks or in a string, have the key's number."""
    body = ["".join(Random(seed).choices(LETTERS_AND_DIGITS, k=64)) for seed in range(3)]
    escaped = "\\n".join([begin(), *body, end()])
    files = [
        file("key.pem", patch(*(f"+{line}" for line in [begin(), *body, end()]))),
        file("a.py", patch(f'+KEY = "{body[0]}\\n{body[1]}\\n"', *(f'+    "{line}"' for line in body))),
        file("b.py", patch(f'+KEY = "{escaped}"')),
    ]
    clean = redacted(commit("Add a key", files, body="\n".join(body)))
    assert not any(line in clean.model_dump_json() for line in body)
    assert clean.body == "\n".join(["[REDACTED:1]"] * 3)
    assert clean.files[1].patch == patch('+KEY = "[REDACTED:1]\\n[REDACTED:1]\\n"', *['+    "[REDACTED:1]"'] * 3)
    assert clean.files[2].patch == patch(f'+KEY = "{begin()}[REDACTED:1]{end()}"')


def test_a_key_marker_without_a_key_gives_nothing_away() -> None:
    """Code after a lone BEGIN marker is no key: its names stay in the other files."""
    code = [
        f"+assert '{begin()}' in text",
        "+engine = DeepseekV32ForCausalLM2(quantization)",
        "+import vllm_v1_engine2",
    ]
    other = file("b.py", patch("+DeepseekV32ForCausalLM2(quantization)", "+import vllm_v1_engine2"))
    assert redacted(commit("Do it", [file("a.py", patch(*code)), other])).files[1] == other


def test_secrets_that_overlap_leave_nothing() -> None:
    """Where one secret holds another or reaches into it, all of both goes."""
    inner, outer = made(16), f"x{made(16)}Z9"
    files = [file("a.env", patch(f"+A_PASSWORD={inner}")), file("b.env", patch(f"+B_PASSWORD={outer}"))]
    clean = redacted(commit("Do it", [*files, file("c.py", patch(f"+f({outer}, {inner})"))]))
    assert clean.files[2].patch == patch("+f([REDACTED:2], [REDACTED:1])")
    assert inner not in clean.model_dump_json()


def test_letters_of_any_script_do_not_shift_what_is_redacted() -> None:
    """A word redacted only where it was found is found behind Chinese and emoji too."""
    assert (
        Redactor()("密码 🔑 test: postgres://app:test@db/test") == "密码 🔑 test: postgres://app:[REDACTED:1]@db/test"
    )


@pytest.mark.parametrize(
    "around", ["?api_key={}&x=1", "Client(api_key={})", "<b>API_KEY={}</b>", "API_KEY={}.", "API_KEY={}\\\\nX=1"]
)
def test_what_follows_a_secret_does_not_hide_it_elsewhere(around: str) -> None:
    """What code, markup or a sentence puts behind a value is not taken for a part of it in the other texts."""
    key = made(24)
    files = [file("a.py", patch("+" + around.format(key))), file("b.py", patch(f"+connect('{key}')"))]
    clean = redacted(commit("Do it", files))
    assert key not in clean.model_dump_json()
    assert clean.files[1].patch == patch("+connect('[REDACTED:1]')")


def test_what_surrounds_a_vendors_token_stays() -> None:
    """A scanner's match that takes in the spaces, the name or the address around a secret is narrowed to the secret."""
    key = made(86) + "=="
    assert Redactor()("x = AP9abcdEFGH1234 \ny") == "x = [REDACTED:1] \ny"
    assert Redactor()(f"AccountName=a;AccountKey={key};b") == "AccountName=a;AccountKey=[REDACTED:1];b"
    assert Redactor()("pw redis://u:pw@cache") == "pw redis://u:[REDACTED:1]@cache"


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("path", ["{}.txt", "pkg/{}/a.py", "pkg/x.{}"])
def test_a_token_in_a_file_name_disappears(name: str, path: str) -> None:
    """A vendor's token is found in a file's new and old name, and then in the other texts, whatever stands around it."""
    made = commit(
        "Do it", [file(path.format(SECRETS[name]), was="old/" + path.format(SECRETS[name]))], body=f"({SECRETS[name]}.)"
    )
    clean = redacted(made)
    assert SECRETS[name] not in clean.model_dump_json()
    assert clean.files[0] == file(path.format("[REDACTED:1]"), was="old/" + path.format("[REDACTED:1]"))
    assert clean.body == "([REDACTED:1].)"


@examples(15)
@given(st.data())
def test_no_pattern_is_spared_a_text_that_it_matches(data: st.DataObject) -> None:
    """The quick looks that decide whether a slow pattern is tried never miss what it would find."""
    slow = [each for each in _detectors().patterns if type(each).__name__ in _SHORTEST_RUNS]
    assert len(slow) == len(_SHORTEST_RUNS)
    for detector in slow:
        for pattern in detector.denylist:
            text = data.draw(st.from_regex(pattern))
            assert max(map(len, _RUN.findall(text)), default=0) >= _SHORTEST_RUNS[type(detector).__name__]


@pytest.mark.parametrize("told", ["Also password={} in the text", "password: {}", "DB_PASSWORD={}"])
def test_a_password_in_prose_is_redacted_everywhere(told: str) -> None:
    """A message that gives a password away, with few digits and no quotes, gives it away in the patches too."""
    password = "Tr0ub" + "DLqDxtpYlSXp"
    clean = redacted(commit(told.format(password), [file("b.py", patch(f'+login("{password}")'))]))
    assert clean.message == told.format("[REDACTED:1]")
    assert clean.files[0].patch == patch('+login("[REDACTED:1]")')
