"""The server of a site: files, ranges, this machine only."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from holisticbias_eval.errors import SiteError
from holisticbias_eval.site.serve import LOOPBACK, serving

CONTENT = bytes(range(100))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    outer = tmp_path_factory.mktemp("outer")
    (outer / "secret.txt").write_text("secret", "utf-8")
    folder = outer / "site"
    (folder / "terms").mkdir(parents=True)
    (folder / "index.html").write_text("first page", "utf-8")
    (folder / "terms" / "rows.parquet").write_bytes(CONTENT)
    (folder / "script.js").write_text("1", "utf-8")
    with serving(folder, 0) as (found, server):
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield urlsplit(found).netloc
        server.shutdown()  # a server that is only closed keeps its thread busy


def get(address: str, path: str, asked: str | None = None) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request("GET", path, headers={"Range": asked} if asked else {})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


@pytest.mark.parametrize(
    ("asked", "status", "content", "said"),
    [
        (None, 200, CONTENT, None),
        ("bytes=0-9", 206, CONTENT[:10], "bytes 0-9/100"),
        ("bytes=90-", 206, CONTENT[90:], "bytes 90-99/100"),
        ("bytes=95-200", 206, CONTENT[95:], "bytes 95-99/100"),
        ("bytes=-8", 206, CONTENT[-8:], "bytes 92-99/100"),
        ("bytes=-500", 206, CONTENT, "bytes 0-99/100"),
        ("bytes=100-", 416, b"", "bytes */100"),
        ("bytes=-", 416, b"", "bytes */100"),
        ("bytes=9-3", 416, b"", "bytes */100"),
        ("lines=1-2", 200, CONTENT, None),
        ("bytes=0-1,4-5", 200, CONTENT, None),
    ],
)
def test_ranges(address: str, asked: str | None, status: int, content: bytes, said: str | None) -> None:
    found, headers, body = get(address, "/terms/rows.parquet", asked)
    assert (found, body, headers["Content-Range"]) == (status, content, said)
    assert headers["Content-Length"] == str(len(content))
    assert headers["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/", 200, "text/html"),
        ("/script.js", 200, "text/javascript"),
        ("/terms/rows.parquet", 200, "application/vnd.apache.parquet"),
        ("/terms/", 404, "text/html;charset=utf-8"),
        ("/absent.html", 404, "text/html;charset=utf-8"),
        ("/../secret.txt", 404, "text/html;charset=utf-8"),
        ("/%2e%2e/secret.txt", 404, "text/html;charset=utf-8"),
    ],
)
def test_files(address: str, path: str, status: int, kind: str) -> None:
    found, headers, _ = get(address, path)
    assert (found, headers["Content-Type"]) == (status, kind)


def test_it_listens_on_this_machine_only(address: str) -> None:
    assert address.startswith(f"{LOOPBACK}:")


def test_a_port_in_use_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(SiteError, match=rf"port {port}: .*; choose another one with --port"),
            serving(tmp_path, port),
        ):
            pass
