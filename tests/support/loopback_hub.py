"""A Hub on loopback that can be written to: repositories with commits, tags, large files and rights.

It answers what the current clients call, keeps everything in memory, and fails where a test tells it to.
"""

import base64
import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

import huggingface_hub.constants
import pytest

from serving import serving

Fault = Literal["cut before", "cut within", "cut after", "500"]


@dataclass(frozen=True)
class User:
    name: str
    writes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Stored:
    """A file of a commit; a large one is known by the SHA-256 of its content, another by its git blob id."""

    content: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def oid(self) -> str:
        kept = pointer(self.sha256, len(self.content)) if self.large else self.content
        return hashlib.sha1(b"blob %d\0" % len(kept) + kept, usedforsecurity=False).hexdigest()


def pointer(sha256: str, size: int) -> bytes:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


@dataclass
class Repository:
    name: str
    private: bool = False
    commits: dict[str, dict[str, Stored]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def add(self, files: Mapping[str, Stored], title: str, branch: str = "main") -> str:
        parent = self.branches.get(branch, "")
        listed = "".join(f"{name} {file.oid}\n" for name, file in sorted(files.items()))
        oid = hashlib.sha1(f"{parent}\n{title}\n{listed}".encode(), usedforsecurity=False).hexdigest()
        self.commits[oid] = dict(files)
        self.log.append(oid)
        self.branches[branch] = oid
        return oid

    def find(self, revision: str) -> str | None:
        named = {**self.branches, **self.tags}
        named |= {f"refs/heads/{branch}": oid for branch, oid in self.branches.items()}
        named |= {f"refs/tags/{tag}": oid for tag, oid in self.tags.items()}
        return named.get(revision, revision if revision in self.commits else None)


class RefusedError(Exception):
    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass
class Hub:
    users: dict[str, User] = field(default_factory=dict)
    large_from: int = 1000
    repositories: dict[str, Repository] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    fault: Callable[[int, str, str], Fault | None] = lambda number, method, path: None
    before: Callable[[str, str], None] = lambda method, path: None
    lock: threading.RLock = field(default_factory=threading.RLock)
    url: str = ""

    def open(self, name: str, user: User | None) -> Repository:
        found = self.repositories.get(name)
        if found is None or (
            found.private and (user is None or name.split("/", 1)[0] not in {user.name, *user.writes})
        ):
            raise RefusedError(404 if user else 401, "RepoNotFound", "Repository not found")
        return found

    def allow(self, namespace: str, user: User | None) -> None:
        if user is None:
            raise RefusedError(401, message="Invalid username or password.")
        if namespace not in user.writes:
            raise RefusedError(403, message="You don't have the rights to do this")


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    handler = type("Handler", (_Handler,), {"hub": hub})
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as hub.url:
        yield hub


Reply = tuple[int, dict[str, str], bytes]


def use_as_client(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process a client of a local Hub, with an empty cache in a folder."""
    client = {
        "ENDPOINT": hub.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(folder / "hub-cache"),
        "HF_TOKEN_PATH": str(folder / "no-token"),
        "HF_STORED_TOKENS_PATH": str(folder / "no-tokens"),
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_DISABLE_TELEMETRY": True,
        "HF_HUB_OFFLINE": False,
    }
    for name, value in client.items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)


def as_json(body: object, status: int = 200) -> Reply:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else each answer waits for an acknowledgement
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name for it
        """Tests read the list of requests instead."""

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - the names that the base class looks for

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.hub.lock:
            number = len(self.hub.requests)
            self.hub.requests.append((self.command, self.path))
        fault = self.hub.fault(number, self.command, self.path)
        self.hub.before(self.command, self.path)
        if fault == "cut before":
            return self._cut()
        if fault == "500":
            return self._send(500, {}, b"")
        with self.hub.lock:
            try:
                status, headers, content = self._route(body)
            except RefusedError as refused:
                error = {"X-Error-Code": refused.code} if refused.code else {}
                error["X-Error-Message"] = refused.message
                status, headers, content = refused.status, error, json.dumps({"error": refused.message}).encode()
        if fault == "cut after":
            return self._cut()
        if fault == "cut within":
            self._send(status, {**headers, "Content-Length": str(len(content))}, content[: len(content) // 2])
            return self._cut()
        return self._send(status, headers, content)

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    def _user(self) -> User | None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in self.hub.users:
            raise RefusedError(401, message="Invalid credentials in Authorization header")
        return self.hub.users.get(token)

    def _route(self, body: bytes) -> Reply:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        for method, pattern, action in ROUTES:
            match = re.fullmatch(pattern, url.path)
            if match and self.command in method:
                parts = {name: unquote(value or "") for name, value in match.groupdict().items()}
                return action(self, self._user() if "blob" not in parts else None, body, query, **parts)
        raise RefusedError(404, message=f"no such endpoint: {self.command} {url.path}")

    # what the endpoints do

    def create(self, user: User | None, body: bytes, query: dict[str, str]) -> Reply:
        asked = json.loads(body)
        namespace = asked.get("organization") or (user.name if user else "")
        self.hub.allow(namespace, user)
        name = f"{namespace}/{asked['name']}"
        url = {"url": f"{self.hub.url}/datasets/{name}"}
        if name in self.hub.repositories:
            return as_json({**url, "error": "You already created this dataset repo"}, 409)
        made = Repository(name, private=bool(asked.get("private")) or asked.get("visibility") == "private")
        made.add({".gitattributes": Stored(b"*.parquet filter=lfs\n", large=False)}, "initial commit")
        self.hub.repositories[name] = made
        return as_json(url)

    def validate(self, user: User | None, body: bytes, query: dict[str, str]) -> Reply:
        return as_json({"errors": [], "warnings": []})

    def preupload(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str) -> Reply:
        repository = self._writable(repo, user)
        held = repository.commits[self._commit_of(repository, rev)]
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["size"] >= self.hub.large_from else "regular",
                "shouldIgnore": False,
                "oid": held[file["path"]].oid if file["path"] in held else None,
            }
            for file in json.loads(body)["files"]
        ]
        return as_json({"files": files})

    def batch(self, user: User | None, body: bytes, query: dict[str, str], repo: str) -> Reply:
        self._writable(repo, user)
        objects: list[dict[str, Any]] = json.loads(body)["objects"]
        for wanted in objects:
            if wanted["oid"] not in self.hub.blobs:
                wanted["actions"] = {"upload": {"href": f"{self.hub.url}/lfs/{wanted['oid']}"}}
        return as_json({"transfer": "basic", "objects": objects})

    def upload(self, user: User | None, body: bytes, query: dict[str, str], blob: str) -> Reply:
        if hashlib.sha256(body).hexdigest() != blob:
            raise RefusedError(400, message="the content is not the object's")
        self.hub.blobs[blob] = body
        return 200, {}, b""

    def commit(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str) -> Reply:
        repository = self._writable(repo, user)
        head = self._commit_of(repository, rev)
        files = dict(repository.commits[head])
        title = ""
        for line in body.splitlines():
            step = json.loads(line)
            key, value = step["key"], step["value"]
            if key == "header":
                title = value["summary"]
                if value.get("parentCommit", head) != head:
                    raise RefusedError(412, message="A commit has happened since. Please refresh and try again.")
            elif key == "file":
                files[value["path"]] = Stored(base64.b64decode(value["content"]), large=False)
            elif key == "lfsFile":
                if value["oid"] not in self.hub.blobs:
                    raise RefusedError(400, message="the object was not uploaded")
                files[value["path"]] = Stored(self.hub.blobs[value["oid"]], large=True)
            elif key == "deletedFile":
                if files.pop(value["path"], None) is None:
                    raise RefusedError(400, message="there is no such file to delete")
            else:
                raise RefusedError(400, message=f"unknown step {key}")
        oid = repository.add(files, title, rev)
        return as_json({"commitUrl": f"{self.hub.url}/datasets/{repo}/commit/{oid}", "commitOid": oid, "success": True})

    def tag(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str) -> Reply:
        repository = self._writable(repo, user)
        name = json.loads(body)["tag"]
        if name in repository.tags:
            raise RefusedError(409, message="Tag reference exists already")
        repository.tags[name] = self._commit_of(repository, rev)
        return as_json({})

    def branch(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str) -> Reply:
        repository = self._writable(repo, user)
        if rev in repository.branches:
            raise RefusedError(409, message="Reference already exists")
        repository.branches[rev] = self._commit_of(repository, json.loads(body)["startingPoint"])
        return as_json({})

    def refs(self, user: User | None, body: bytes, query: dict[str, str], repo: str) -> Reply:
        repository = self.hub.open(repo, user)
        places = {"heads": repository.branches, "tags": repository.tags}
        heads, tags = (
            [{"name": name, "ref": f"refs/{place}/{name}", "targetCommit": oid} for name, oid in held.items()]
            for place, held in places.items()
        )
        return as_json({"branches": heads, "tags": tags, "converts": []})

    def info(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str = "main") -> Reply:
        repository = self.hub.open(repo, user)
        oid = self._commit_of(repository, rev)
        siblings = [
            {"rfilename": name, "size": len(file.content), "blobId": file.oid, **self._large(file, "sha256")}
            for name, file in sorted(repository.commits[oid].items())
        ]
        about = {"id": repo, "author": repo.split("/", 1)[0], "sha": oid, "private": repository.private}
        rest = {"gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0, "siblings": siblings}
        return as_json({**about, **rest})

    def tree(
        self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str, under: str = ""
    ) -> Reply:
        repository = self.hub.open(repo, user)
        files = repository.commits[self._commit_of(repository, rev)]
        inside = f"{under}/" if under else ""
        held = {name: file for name, file in sorted(files.items()) if name.startswith(inside)}
        if under and not held:
            raise RefusedError(404, "EntryNotFound", f"{under} does not exist on {rev}")
        deep = query.get("recursive", "false").lower() in ("true", "1")
        entries: dict[str, dict[str, Any]] = {}
        for name, file in held.items():
            folders = name[len(inside) :].split("/")[:-1]
            for i in range(len(folders)):
                folder = inside + "/".join(folders[: i + 1])
                if deep or i == 0:
                    entries.setdefault(folder, {"type": "directory", "path": folder, "size": 0, "oid": "0" * 40})
            if deep or not folders:
                size = len(file.content)
                entries[name] = {"type": "file", "path": name, "size": size, "oid": file.oid, **self._large(file)}
        return as_json(list(entries.values()))

    def resolve(self, user: User | None, body: bytes, query: dict[str, str], repo: str, rev: str, path: str) -> Reply:
        repository = self.hub.open(repo, user)
        oid = self._commit_of(repository, rev)
        file = repository.commits[oid].get(path)
        if file is None:
            raise RefusedError(404, "EntryNotFound", "Entry not found")
        headers = {
            "X-Repo-Commit": oid,
            "ETag": f'"{file.sha256 if file.large else file.oid}"',
            "Accept-Ranges": "bytes",
        }
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            return 200, {**headers, "Content-Length": str(len(file.content))}, file.content
        start, end = int(asked[1]), min(int(asked[2] or len(file.content)), len(file.content) - 1)
        if start > end:
            return 416, {**headers, "Content-Range": f"bytes */{len(file.content)}"}, b""
        headers["Content-Range"] = f"bytes {start}-{end}/{len(file.content)}"
        part = file.content[start : end + 1]
        return 206, {**headers, "Content-Length": str(len(part))}, part

    def _writable(self, repo: str, user: User | None) -> Repository:
        repository = self.hub.open(repo, user)
        self.hub.allow(repo.split("/", 1)[0], user)
        return repository

    def _commit_of(self, repository: Repository, revision: str) -> str:
        oid = repository.find(revision)
        if oid is None:
            raise RefusedError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return oid

    @staticmethod
    def _large(file: Stored, key: str = "oid") -> dict[str, Any]:
        if not file.large:
            return {}
        size = len(file.content)
        return {"lfs": {key: file.sha256, "size": size, "pointerSize": len(pointer(file.sha256, size))}}


_REPO = r"(?P<repo>[^/]+/[^/]+)"
_REV = r"(?P<rev>[^/]+)"
ROUTES: tuple[tuple[tuple[str, ...], str, Callable[..., Reply]], ...] = (
    (("POST",), "/api/repos/create", _Handler.create),
    (("POST",), "/api/validate-yaml", _Handler.validate),
    (("POST",), f"/api/datasets/{_REPO}/preupload/{_REV}", _Handler.preupload),
    (("POST",), rf"/datasets/{_REPO}\.git/info/lfs/objects/batch", _Handler.batch),
    (("PUT",), "/lfs/(?P<blob>[0-9a-f]{64})", _Handler.upload),
    (("POST",), f"/api/datasets/{_REPO}/commit/{_REV}", _Handler.commit),
    (("POST",), f"/api/datasets/{_REPO}/tag/{_REV}", _Handler.tag),
    (("POST",), f"/api/datasets/{_REPO}/branch/{_REV}", _Handler.branch),
    (("GET",), f"/api/datasets/{_REPO}/refs", _Handler.refs),
    (("GET",), f"/api/(?:datasets|models)/{_REPO}", _Handler.info),
    (("GET",), f"/api/datasets/{_REPO}/revision/{_REV}", _Handler.info),
    (("GET",), f"/api/datasets/{_REPO}/tree/{_REV}(?:/(?P<under>.+))?", _Handler.tree),
    (("GET", "HEAD"), f"(?:/datasets)?/{_REPO}/resolve/{_REV}/(?P<path>.+)", _Handler.resolve),
)
