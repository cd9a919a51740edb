"""A specification's file, and the command on servers of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.evaluation.generation.chat_server import Answering, ChatServer
from tests.evaluation.stereotypes.sentences_by_hand import OWN


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


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The specification of invented words as a file."""
    path = tmp_path / "invented.yaml"
    path.write_text(yaml.safe_dump(OWN), "utf-8")
    return path
