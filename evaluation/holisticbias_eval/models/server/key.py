"""The key of a server: read and checked once, and removed from everything that a server sends back."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import quote

from holisticbias_eval.errors import ModelError

KEY_VARIABLE = "HOLISTICBIAS_API_KEY"
HIDDEN = "[key]"
_SHORTEST = 8  # shorter keys, such as "none", are ordinary words of an answer


def read_key() -> str | None:
    """The key in ``$HOLISTICBIAS_API_KEY`` without blanks at its ends, None if there is none.

    Raises ``ModelError``, without showing the key, if it has characters that a header cannot hold.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise ModelError(
            f"the key in ${KEY_VARIABLE} has a blank, a line break or a letter outside ASCII: set it to the key alone"
        )
    return key or None


def without_key(content: bytes, key: str | None) -> bytes:
    """Replace the key in a server's answer, also in its JSON and URL forms, and in capital or small letters."""
    if key is None or len(key) < _SHORTEST:
        return content
    escaped = json.dumps(key)[1:-1]
    forms = {key, escaped, escaped.replace("/", "\\/"), quote(key), quote(key, safe="")}
    for form in sorted(forms, key=len, reverse=True):
        content = re.sub(re.escape(form.encode()), HIDDEN.encode(), content, flags=re.IGNORECASE)
    return content
