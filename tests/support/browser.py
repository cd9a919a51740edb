"""Open a page in a browser, and look at it with a script."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def browse(page: str, script: str, folder: Path, width: int = 360, height: int = 844) -> dict[str, Any]:
    """Run a script beside a page of this size, whose document is ``inner``; what the script puts into ``found``."""
    outer = folder / "outer.html"
    outer.write_text(
        f'<!doctype html><meta charset="utf-8"><iframe style="width:{width}px;height:{height}px;border:0" '
        f'srcdoc="{html.escape(page)}"></iframe><script>const page = document.querySelector("iframe");'
        f'page.addEventListener("load", () => {{ const inner = page.contentDocument; {script}\n'
        "document.body.dataset.found = JSON.stringify(found); });</script>",
        "utf-8",
    )
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom", outer.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    match = re.search(r'data-found="([^"]*)"', done.stdout)
    assert match, done.stderr
    found: dict[str, Any] = json.loads(html.unescape(match[1]))
    return found
