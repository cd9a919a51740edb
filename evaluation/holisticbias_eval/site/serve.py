"""Serve a site on this machine only, with the ranges that its pages of sentences ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, cast

from holisticbias_eval.errors import SiteError

LOOPBACK = "127.0.0.1"
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@contextmanager
def serving(folder: Path, port: int) -> Iterator[tuple[str, ThreadingHTTPServer]]:
    """Yield the address of a server of the folder, and the server, which is closed at the end.

    Port 0 is any free port. Raises ``SiteError`` if another program uses the port.
    """
    try:
        server = _Server((LOOPBACK, port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        reason = error.strerror or error
        raise SiteError(f"cannot serve on port {port}: {reason}; choose another one with --port, or 0") from error
    with server:
        yield f"http://{LOOPBACK}:{server.server_address[1]}/", server


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser may close a connection at any time."""


class _Handler(SimpleHTTPRequestHandler):
    """Sends files, or one range of a file."""

    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012 - as in the base class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".parquet": "application/vnd.apache.parquet",
    }
    _left: int | None = None

    def send_head(self) -> BinaryIO | BufferedIOBase | None:  # type: ignore[override] # the stub knows no ranges
        """Send the headers; the file is then copied from the start of the range."""
        self._left = None
        path = Path(self.translate_path(self.path))
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        if asked is None or not path.is_file():
            return super().send_head()
        size = path.stat().st_size
        first, last = _ends(asked[1], asked[2], size)
        if first > last:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        file = path.open("rb")
        file.seek(first)
        self._left = last - first + 1
        return file

    def list_directory(self, path: object) -> None:
        """Send no list of files: the site has none."""
        self.send_error(HTTPStatus.NOT_FOUND, "File not found")

    def copyfile(self, source: object, outputfile: object) -> None:
        """Copy the file, or the bytes of the range."""
        opened, out = cast("BinaryIO", source), cast("BinaryIO", outputfile)
        if self._left is None:
            super().copyfile(opened, out)
        else:
            out.write(opened.read(self._left))

    def end_headers(self) -> None:
        """Say that ranges may be asked for, and that the browser must ask for a changed file."""
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Print nothing."""


def _ends(first: str, last: str, size: int) -> tuple[int, int]:
    """The first and last byte of a range; the first is greater if the file has no such bytes."""
    if not first:
        return (max(0, size - int(last)), size - 1) if last and int(last) else (1, 0)
    return int(first), min(int(last), size - 1) if last else size - 1
