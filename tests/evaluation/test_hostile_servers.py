"""Servers that send too much, too slowly, or what they were sent: one clear line, bounded memory and time."""

import gzip
import re
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from types import SimpleNamespace

import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.server import http
from holisticbias_eval.models.server.address import HIDDEN, KEY_VARIABLE, without_key
from holisticbias_eval.models.server.http import ServerClient, inner_status
from holisticbias_eval.models.settings import ModelSettings

KEY = "sk-a/very+secret=key"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LIMITS = ModelSettings(api_retries=1, api_timeout=60, api_wait=0.1, api_largest=1)
HASTY = LIMITS.model_copy(update={"api_timeout": 0.6})
Reply = Callable[[socket.socket, bytes], None]


def nothing(connection: socket.socket, request: bytes) -> None:
    time.sleep(5)


def trickled(start: bytes, rest: bytes) -> Reply:
    """A server that sends the rest byte by byte."""

    def reply(connection: socket.socket, request: bytes) -> None:
        connection.sendall(start)
        for byte in rest:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    return reply


def sends(*parts: bytes) -> Reply:
    """A server that answers every request with these bytes."""
    return lambda connection, request: connection.sendall(b"".join(parts))


def sized(body: bytes, head: bytes = HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def moved(place: bytes) -> Reply:
    return sends(sized(b"", b"HTTP/1.1 307 Moved\r\nLocation: " + place + b"\r\n"))


LONG_WAIT = sends(sized(b"", b"HTTP/1.1 429 Too Many\r\nRetry-After: 3600\r\n"))
ESCAPES = sends(sized("\x1b[2J\u202eoops\r\n".encode() * 20, b"HTTP/1.1 418 No\r\n"))
MANY_VALUES = sends(sized(b'{"choices":[' + b"[]," * 300_000 + b"[]]}"))
NOT_HTTP = sends(b"SSH-2.0-nonsense\r\n")


@cache
def compressed() -> bytes:
    return gzip.compress(b" " * 200_000_000, 1)


def gzip_bomb(connection: socket.socket, request: bytes) -> None:
    connection.sendall(sized(compressed(), HEAD + b"Content-Encoding: gzip\r\n"))


def endless(head: bytes) -> Reply:
    """A server whose answer has no end."""

    def reply(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")

    return reply


endless_redirect = endless(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n")


Serve = Callable[[Reply], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server that gives each request to a function, and returns its address."""
    listeners: list[socket.socket] = []

    def start(reply: Reply) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                reply(connection, connection.recv(65536))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):  # what is left unread would reset the connection
                    pass

        def run() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (nothing, "does not answer: no answer within 0.6 seconds"),
        (trickled(b"", HEAD * 10), "does not answer: no answer within 0.6 seconds"),
        (trickled(HEAD + b"Content-Length: 1000\r\n\r\n", b" " * 100), "no answer within 0.6 seconds"),
        (LONG_WAIT, "answers with 429"),
        (gzip_bomb, "an answer is longer than 1,000,000 bytes"),
        (endless(HEAD), "an answer is longer than 1,000,000 bytes"),
        (MANY_VALUES, "an answer has more than 500,000 values"),
        (NOT_HTTP, "does not answer"),
        (ESCAPES, "answers with 418"),
        (moved(b"http://["), "does not answer"),
        (moved(b"file:///etc/passwd"), "does not answer"),
        (endless_redirect, "does not answer: too many redirects"),
    ],
)
def test_one_line_soon(serve: Serve, reply: Reply, expected: str) -> None:
    """Neither time nor memory is the server's to decide."""
    client = ServerClient(serve(reply), HASTY if "0.6 seconds" in expected else LIMITS)
    with pytest.raises(ModelError, match=expected) as raised:
        client.post("completions", {})
    assert str(raised.value).isprintable()


def test_an_address_without_v1_is_hinted_at(serve: Serve) -> None:
    base = serve(sends(sized(b"{}", b"HTTP/1.1 404 Not Found\r\n")))
    for address, hint in ((base, r" \(most addresses end in /v1\)$"), (f"{base}/v1", r"answers with 404: {}$")):
        with pytest.raises(ModelError, match=hint):
            ServerClient(address, LIMITS).post("completions", {})


def test_an_answer_is_not_held_decompressed(serve: Serve) -> None:
    """A body of 200 MB after decompression takes no more memory than the longest answer and some buffers."""
    compressed()
    client = ServerClient(serve(gzip_bomb), ModelSettings(api_retries=0, api_largest=1))
    tracemalloc.start()
    with pytest.raises(ModelError, match="longer than"):
        client.post("completions", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_an_endless_body_of_a_redirect_is_not_read_on(serve: Serve) -> None:
    """The thread that reads it would be busy for the rest of the run."""
    ended = threading.Event()

    def reply(connection: socket.socket, request: bytes) -> None:
        try:
            endless_redirect(connection, request)
        except OSError:
            ended.set()

    with pytest.raises(ModelError, match="too many redirects"):
        ServerClient(serve(reply), LIMITS).post("completions", {})
    assert ended.wait(10)


def test_an_answer_that_is_no_object_says_no_status() -> None:
    bodies = (b'"error": 3', b'["error"]', b'{"error": {"code": 429}}')
    assert [inner_status(body) for body in bodies] == [(None, False), (None, False), (429, False)]


def test_requests_keep_to_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, times = list[float](), iter([10.0, 10.5, 30.0])
    monkeypatch.setattr(http, "time", SimpleNamespace(monotonic=times.__next__, sleep=waits.append))
    client = ServerClient("http://127.0.0.1:9", ModelSettings(api_rate=60))
    for _ in range(3):
        client._take_turn()
    assert waits == [0, 0.5, 0]


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "a\x00b"])
def test_a_key_that_cannot_be_sent_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message does not show it."""
    if "\x00" in key:
        monkeypatch.setattr("os.environ", {KEY_VARIABLE: key})
    else:
        monkeypatch.setenv(KEY_VARIABLE, key)
    with pytest.raises(ModelError, match="set it to the key alone") as raised:
        ServerClient("http://127.0.0.1:9", LIMITS)
    assert key not in str(raised.value)


@pytest.mark.parametrize("head", [HEAD, b"HTTP/1.1 400 No\r\n"])
def test_a_key_that_is_sent_back_is_hidden(serve: Serve, head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """In errors and in answers, which are stored; a line break at the end of the key is not part of it."""
    monkeypatch.setenv(KEY_VARIABLE, KEY + "\n")
    client = ServerClient(serve(lambda connection, sent: connection.sendall(sized(sent, head))), LIMITS)
    try:
        shown = client.post("completions", {"prompt": KEY}).decode()
    except ModelError as error:
        shown = f"{error} {error.__cause__} {error.__context__}"
    assert KEY not in shown
    assert f"Bearer {HIDDEN}" in shown


def test_a_refused_key(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the server does not accept is not called missing."""

    address = serve(sends(sized(b"", b"HTTP/1.1 401 No\r\n")))
    for key, expected in (("", "asks for a key"), (KEY, "does not accept the key")):
        monkeypatch.setenv(KEY_VARIABLE, key)
        with pytest.raises(ModelError, match=expected):
            ServerClient(address, LIMITS).post("completions", {})


def test_forms_of_a_key() -> None:
    """As JSON and addresses write it; a short key is an ordinary word, as servers on one's own machine take any."""
    for content, shown in {
        '{"a": "sk-a/very+secret=key"}': '{"a": "[key]"}',
        '{"a": "sk-a\\/very+secret=key"}': '{"a": "[key]"}',
        "sk-a%2Fvery%2Bsecret%3Dkey sk-a/very%2Bsecret%3Dkey": "[key] [key]",
        "sk-a": "sk-a",
        "SK-A/Very+Secret=Key": "[key]",
    }.items():
        assert without_key(content.encode(), KEY) == shown.encode()
    assert without_key(b"none of them", "none") == b"none of them"


@pytest.mark.parametrize(
    "address",
    [
        "http://user:password@127.0.0.1/v1",
        "http://user@127.0.0.1/v1",
        "HTTP://user:password@127.0.0.1/v1",
        "ftp://user:password@127.0.0.1/v1",
        "user:password@127.0.0.1/v1",
        *(f"http://127.0.0.1/v1?{query}=password" for query in ("key", "api-key", "sig", "access_token", "code")),
        "http://127.0.0.1/v1?a=my-password",
        "http://127.0.0.1/v1?password",
        "http://127.0.0.1/v1?a=" + "f" * 31,
        "http://127.0.0.1/v1#password",
        "http://127.0.0.1/v1?v=sk-abcde",
    ],
)
def test_no_key_in_the_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses are recorded, so they may not hold a password or the user's key; the message does not show it."""
    monkeypatch.setenv(KEY_VARIABLE, "sk-abcde")
    with pytest.raises(ModelError, match="leave the key out") as raised:
        ServerClient(address, LIMITS)
    assert not {"password", "sk-abcde", "fff"} & {*re.findall(r"password|sk-abcde|fff", str(raised.value))}


@pytest.mark.parametrize(
    "address", ["http://[password", "http://", "http:///v1", "localhost:8000", "http://h:99999999"]
)
def test_no_address(address: str) -> None:
    """An error gives the form of an address; an address that cannot be read is not shown."""
    with pytest.raises(ModelError, match="it must start with http:// or https:// and the name of a host") as raised:
        ServerClient(address, LIMITS)
    assert "password" not in str(raised.value)


def test_the_key_stays_with_its_server(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host, to which the server redirects, does not get it."""
    seen: list[bytes] = []

    def record(connection: socket.socket, request: bytes) -> None:
        seen.append(request)
        connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")

    monkeypatch.setenv(KEY_VARIABLE, KEY)
    assert ServerClient(serve(moved(serve(record).encode())), LIMITS).post("completions", {}) == b"{}"
    assert len(seen) == 1
    assert KEY.encode() not in seen[0]


def test_a_server_without_tls(serve: Serve) -> None:
    """An https address of a plain server."""
    address = serve(NOT_HTTP).replace("http:", "https:")
    with pytest.raises(ModelError, match="does not answer") as raised:
        ServerClient(address, LIMITS).post("completions", {})
    assert str(raised.value).isprintable()
