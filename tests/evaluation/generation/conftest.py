"""A chat server on this machine, whose answers a test decides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from .chat_server import Answering, ChatServer


@pytest.fixture
def chat_server() -> Iterator[Callable[[Answering], ChatServer]]:
    """Start a server; it ends with the test."""
    servers = []

    def start(answering: Answering) -> ChatServer:
        server = ChatServer(answering)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
