"""A chat server on this machine, whose answers a test decides."""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS, Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

SAMPLED = DECODINGS.read("sampled")
QUICK = ModelSettings(api_concurrency=3, api_retries=2, api_wait=0.05)
Body = Mapping[str, Any]
Answering = Callable[[Body, int], tuple[int, Any]]
CUT = object()  # an answer that breaks off in the middle


def message(content: Any, finish: Any = "stop", tokens: Any = 5, **more: Any) -> Mapping[str, Any]:
    """An answer of a chat server; ``more`` is of the message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **more}, "finish_reason": finish}
    return {"choices": [choice], "usage": {"completion_tokens": tokens}}


def asked(body: Body) -> str:
    """The words of the person in a request."""
    return str(body["messages"][-1]["content"] if "messages" in body else body["prompt"])


def is_trial(body: Body) -> bool:
    """Whether a request only tries which settings the server takes."""
    return "Count from 1 to 100" in asked(body)


class ChatServer(ThreadingHTTPServer):
    """Answers with what ``answering`` returns for a request and its number; keeps the requests."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answering: Answering) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answering = answering
        self.bodies: list[Body] = []
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.lock = threading.Lock()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def answered(self) -> list[str]:
        """The words of the persons in requests, without trials."""
        return [asked(body) for body in self.bodies if not is_trial(body)]


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else each answer waits for an acknowledgement
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.paths.append(self.path)
            self.server.headers.append(dict(self.headers.items()))
            turn = len(self.server.bodies)
        status, reply = self.server.answering(body, turn)
        content = reply if isinstance(reply, bytes) else b"" if reply is CUT else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(1000 if reply is CUT else len(content)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = reply is CUT

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass


def prompts(*texts: str, persona: str = "", samples: int = 1) -> PromptRequests:
    """Each text with a persona, ``samples`` times."""
    sample = np.tile(np.arange(samples, dtype=np.int32), len(texts))
    return PromptRequests([text for text in texts for _ in range(samples)], [persona] * len(sample), sample)


def generator(
    base: str,
    decoding: Decoding = SAMPLED,
    seed: int = 0,
    notice: Any = ignore,
    options: ModelSettings = QUICK,
    endpoint: str = "chat",
    conversation: ConversationOptions | None = None,
    **more: Any,
) -> ApiGenerator:
    options = options.model_copy(update={"api_endpoint": endpoint})
    made = ApiGenerator("tiny", base, notice, decoding, seed, conversation or ConversationOptions(), options, **more)
    made.hold = 0.0
    return made


def echo(body: Body, turn: int) -> tuple[int, Any]:
    return 200, message(f"{asked(body)} {body['seed']}")


def only(content: Any, status: int = 200) -> Answering:
    """A server that answers everything but a trial with the same content."""
    return lambda body, turn: (200, message("one")) if is_trial(body) else (status, content)


def one(answering: Answering, chat_server: Callable[[Answering], ChatServer]) -> tuple[str, str, int, str]:
    """The only response: its text, its end, its tokens and its reasoning."""
    found = respond_all(prompts("Hi."), generator(chat_server(answering).base), ignore)
    return found.text[0], found.finish[0], int(found.tokens[0]), found.reasoning[0]
