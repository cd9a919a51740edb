"""The address of a server and its key, which no record and no message shows."""

import json
import os
import re
from urllib.parse import parse_qsl, quote, urlsplit

from holisticbias_eval.errors import ModelError

KEY_VARIABLE = "HOLISTICBIAS_API_KEY"
KEY_IN_ADDRESS = f"leave the key out of the server's address, which is recorded: set ${KEY_VARIABLE}"
HIDDEN = "[key]"
_SECRET = re.compile(r"key|token|secret|sig|pass|pwd|auth|credential|^code ", re.IGNORECASE)
_LONGEST_VALUE = 30  # characters of a value in an address: longer ones may be keys
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


def check_address(base: str) -> str:
    """The address of a server, perhaps with a query such as ``?api-version=2024-10-21``.

    Raises ``ModelError``, without showing the address if it may hold a password or a key.
    """
    form = "it must start with http:// or https:// and the name of a host"
    try:
        parts = urlsplit(base)
        is_server = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ModelError(f"the address of the server cannot be read: {form}") from error
    query = parse_qsl(parts.query, keep_blank_values=True)
    secret = any(_SECRET.search(f"{name} {value}") or not 0 < len(value) <= _LONGEST_VALUE for name, value in query)
    if "@" in (parts.netloc if is_server else base) or parts.fragment or secret or (parts.query and not query):
        raise ModelError(KEY_IN_ADDRESS)
    if not is_server or not base.isprintable():
        raise ModelError(f"{base!r} is not the address of a server: {form}")
    return base
