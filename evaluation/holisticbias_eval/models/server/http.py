"""A client of servers that answer JSON with JSON, within a rate and a budget of requests."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

import urllib3
from pydantic import BaseModel, ValidationError

from holisticbias.errors import in_one_line
from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import ModelError, PassingError
from holisticbias_eval.models.server.address import KEY_IN_ADDRESS, KEY_VARIABLE, check_address, read_key, without_key
from holisticbias_eval.models.settings import ModelSettings

_FILTERED = (
    "content_filter", "content_policy", "content policy", "content management policy", "content violat",
    "requires moderation", "was flagged", "flagged_input", "responsibleaipolicy", "safety system", "prohibited_content",
)  # fmt: skip
_TELLING = re.compile(rb'"error"|content_filter|"choices"\s*:\s*\[\s*\]')
_CODES = range(400, 600)


def is_withheld(content: str) -> bool:
    """Whether the body of a refusal says that the server does not answer because of what was asked."""
    low = content.lower()
    return any(mark in low for mark in _FILTERED)


def inner_status(content: bytes) -> tuple[int | None, bool]:
    """The status in the error that an answer with status 200 has, null for none; and whether the answer is withheld.

    An answer is withheld if it has an empty list of choices, or a first choice without a message that a content filter
    ended. An error is that of the answer or of its first choice; its status is its ``code`` or ``status``.
    """
    answer: object = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(content) if _TELLING.search(content) else None
    if not isinstance(answer, dict):
        return None, False
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    error = choice.get("error") if choice else answer.get("error")
    if error:
        return _status(error), is_withheld(json.dumps(error))
    ended = choice.get("finish_reason") == "content_filter" and "text" not in choice
    return None, choices == [] or (ended and choice.get("message") is None)


def _status(error: Any) -> int | None:
    for key in ("code", "status"):
        value = error.get(key) if isinstance(error, dict) else None
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if isinstance(value, int) and value in _CODES:
            return value
    return None


def named_settings(refusal: str, names: Iterable[str]) -> list[str]:
    """The settings, of those in a request, that a refusal names as whole words."""
    return [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", refusal)]


T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)
Item = TypeVar("Item")
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
_REFUSED = (400, 404, 405, 413, 415, 422, 501)
_REDIRECTS = 3
_TIMES = 3  # an unusable answer may come from something between here and the server
_MOST_VALUES = 500_000  # each may be an error of 500 bytes; 16 prompts of 4,096 tokens have 330,000


class RequestError(ModelError):
    """A request whose content the server refuses; ``content`` is the beginning of its answer."""

    def __init__(self, message: str, content: str) -> None:
        super().__init__(message)
        self.content = content


class WithheldError(RequestError):
    """A request that the server does not answer because of what it asks; other requests may be answered."""


class _Redirects(urllib3.Retry):
    """Redirects whose own answers are not read: one may have no end."""

    def increment(self, *asked: Any, **given: Any) -> Self:
        """Close the answer that redirects, and count it."""
        if given.get("response") is not None:
            given["response"].close()
        return super().increment(*asked, **given)


class ServerClient:
    """Posts requests to one server. May be used from several threads."""

    def __init__(self, base: str, settings: ModelSettings) -> None:
        self.base = check_address(base).rstrip("/")
        self._settings, self._largest = settings, settings.api_largest * 1_000_000
        self._key = read_key()
        parts = urlsplit(self.base)
        if self._key and self._key in parts.query:
            raise ModelError(KEY_IN_ADDRESS)
        self._query = parts.query
        self._root = urlunsplit(parts._replace(query="")).rstrip("/")
        self._retry = urllib3.Retry(
            total=settings.api_retries,
            backoff_factor=0.2,
            backoff_max=settings.api_wait,
            retry_after_max=int(settings.api_wait),
            status_forcelist=_RETRIED,
            allowed_methods=None,
        )
        longer = 2 * settings.api_timeout  # ends what a try that took too long left behind
        self._pool = urllib3.PoolManager(maxsize=settings.api_concurrency, timeout=longer)
        self._lock = threading.Lock()
        self._asked, self._next = 0, 0.0

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Post a request to ``base/path`` and return the body of the answer, in which the key is replaced.

        A query of the address stands behind the path. Waits for its turn within the rate, and tries again if the server
        is busy or the connection breaks; an error inside an answer counts as its status. Raises ``WithheldError`` if
        the server does not answer because of the content, ``RequestError`` if it refuses the request, and
        ``PassingError`` if it does not answer in time, wants a key, or the budget is spent.
        """
        self._take_turn()
        try:
            query = f"?{self._query}" if self._query else ""
            status, content = self._answer(f"{self._root}/{path}{query}", json.dumps(body))
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise PassingError(f"the server {self.base} does not answer: {self._shown(str(reason))}") from None
        if len(content) > self._largest:
            raise self.refused(f"an answer is longer than {self._largest:,} bytes")
        if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
            raise self.refused(f"an answer has more than {_MOST_VALUES:,} values")
        beginning = without_key(content, self._key)[:2000].decode(errors="replace")
        if self._is_withheld(status, content, beginning):
            raise WithheldError(f"the server {self.base} withholds its answer: {self._shown(beginning)}", beginning)
        if status in {401, 403}:
            wanted = (
                f"does not accept the key in ${KEY_VARIABLE}" if self._key else f"asks for a key: set ${KEY_VARIABLE}"
            )
            raise PassingError(f"the server {self.base} {wanted}")
        content = without_key(content, self._key)
        if status != 200:
            hint = " (most addresses end in /v1)" if status == 404 and "/v" not in self._root else ""
            message = f"the server {self.base} answers with {status}: {self._shown(beginning)}{hint}"
            raise RequestError(message, beginning) if status in _REFUSED else PassingError(message)
        return content

    def ask(self, kind: type[R], path: str, body: Mapping[str, Any]) -> R:
        """The answer to a request, of this kind; an answer of another kind is asked for again.

        Raises what ``post`` raises, and ``ModelError`` if no answer can be read.
        """
        reason = ""
        for _ in range(_TIMES):
            try:
                return kind.model_validate(json.loads(self.post(path, body)))
            except ValidationError as error:
                reason = schema_message(error.errors()[0])
            except (ValueError, RecursionError) as error:
                reason = str(error)
        raise self.refused(f"its answer is not a completion: {in_one_line(reason)}")

    def _is_withheld(self, status: int, content: bytes, beginning: str) -> bool:
        if status == 200:
            return inner_status(content)[1]
        return (status in _REFUSED or status == 403) and is_withheld(beginning)

    def each(self, ask: Callable[[Item], T], items: Sequence[Item]) -> Iterator[T]:
        """Call ``ask`` for each item, several at once, and yield the results in order; an error ends it."""
        with request_threads(self._settings.api_concurrency) as threads:
            yield from threads.map(ask, items)

    def refused(self, reason: str) -> ModelError:
        """The error that says why this server cannot be used."""
        return ModelError(f"the server {self.base} cannot be used: {reason}")

    def _answer(self, url: str, body: str) -> tuple[int, bytes]:
        """The status and the body, of which at most one byte more than the largest is read."""
        retry = self._retry
        while True:
            reply: urllib3.BaseHTTPResponse | None = None
            failed: Exception | None = None
            try:
                reply, content = within(self._settings.api_timeout, lambda: self._try(url, body))
            except TimeoutError as error:
                failed = urllib3.exceptions.TimeoutError(str(error))
            except urllib3.exceptions.HTTPError as error:
                failed = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
            except ValueError as error:  # an address to which the server redirects
                failed = urllib3.exceptions.LocationValueError(str(error))
            if reply is not None:
                status = (inner_status(content)[0] or 200) if reply.status == 200 else reply.status
                busy = retry.is_retry("POST", status, "Retry-After" in reply.headers)
                if not busy or not retry.total:
                    return status, content
            retry = retry.increment("POST", url, response=reply, error=failed)
            retry.sleep(reply)

    def _try(self, url: str, body: str) -> tuple[urllib3.BaseHTTPResponse, bytes]:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
            if "api-version" in self._query:  # Azure's addresses, with its header for a key
                headers["api-key"] = self._key
        redirects = _Redirects(total=_REDIRECTS, connect=0, read=0, status=0, other=0)
        with self._pool.request(
            "POST", url, body=body, headers=headers, preload_content=False, retries=redirects
        ) as reply:
            return reply, bytes(reply.read(self._largest + 1))

    def _shown(self, text: str) -> str:
        return in_one_line(without_key(text.encode(), self._key).decode(errors="replace"))

    def _take_turn(self) -> None:
        """Wait until the rate allows a request; raise ``PassingError`` if the budget is spent."""
        with self._lock:
            if self._settings.api_budget and self._asked >= self._settings.api_budget:
                raise PassingError(
                    f"the budget of {self._settings.api_budget:,} requests is spent; "
                    "what is finished is kept: run the command again to continue"
                )
            self._asked += 1
            if not self._settings.api_rate:
                return
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + 60 / self._settings.api_rate
        time.sleep(turn - now)


@contextmanager
def request_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for requests; after an error or an interruption, answers that are under way are not waited for."""
    threads = ThreadPoolExecutor(count)
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def within(seconds: float, call: Callable[[], T]) -> T:
    """Call, and return the result; raises ``TimeoutError`` if it takes longer.

    The timeout of a socket starts again with each byte, so the call runs in another thread, which is left behind.
    """
    result = Future[T]()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait([result], seconds).done:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return result.result()
