"""A site of parts of two releases, built once a session; a browser; pages that report whatever goes wrong in them."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from browser import CHROMIUM
from holisticbias import build_release, write_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.build import build_site
from quiet import QUIET
from serving import serving

BASE = "holisticbias"
PART = ("axis=age,nonce", "gender=neutral", "family=dialogue")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def site_folder(
    request: pytest.FixtureRequest, root: Path, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with a site in ``holisticbias``, which the processes of a parallel session build once."""
    own = tmp_path_factory.getbasetemp()
    made = (own.parent if hasattr(request.config, "workerinput") else own) / "site"
    with FileLock(f"{made}.lock"):
        if not (made / BASE).is_dir():
            _build(made, root, catalog)
    return made


def _build(made: Path, root: Path, catalog: Catalog) -> None:
    """Build a site of the axes age and nonce of two releases, and of the results on 1.0.0."""
    results = made / "results"
    results.mkdir(parents=True)
    for path in (root / "evaluation" / "results").glob("*-on-1.0.0-*.json"):
        shutil.copy(path, results)
    for name in ("1.0.0/smollm2-135m-instruct/result.json", "1.0.0/result.json"):
        (made / "reference" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "evaluation" / "reference" / name, made / "reference" / name)
    for version in ("1.0.0", "2.0.0"):
        write_release(build_release(catalog, version, where=PART), made / version)
    releases = tuple(str(made / version) for version in ("1.0.0", "2.0.0"))
    build_site(made / BASE, QUIET, releases=releases, terms=root, results=results)


class Quiet(SimpleHTTPRequestHandler):
    """As ``python -m http.server``, without its log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder as long as the block runs; the address of the site in it."""
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))) as address:
        yield f"{address}/{BASE}"


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """The address of the site."""
    with served(site_folder) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


Open = Callable[..., Page]


@contextmanager
def opening(chromium: Browser, site: str) -> Iterator[Open]:
    """Open paths of a site; in the end, the console must be empty, and all requests must have gone to the site."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def open_path(path: str, *, javascript: bool = True) -> Page:
        context = chromium.new_context(java_script_enabled=javascript)
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith(f"{site}/") else None)
        page.goto(f"{site}/{path}")
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def open_page(chromium: Browser, site: str) -> Iterator[Open]:
    """Open a path of the site."""
    with opening(chromium, site) as open_path:
        yield open_path
