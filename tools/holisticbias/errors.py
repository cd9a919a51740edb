"""Errors for users and callers of the API; the command line prints them as one line."""

from collections.abc import Iterator
from contextlib import contextmanager


def in_one_line(said: object, most: int | None = 200) -> str:
    """The beginning of a text, or of what an error says, on one line of printable characters.

    An error that says nothing is named by its type.
    """
    shown = "".join(character if character.isprintable() else " " for character in str(said))
    return " ".join(shown.split())[:most] or (type(said).__name__ if isinstance(said, BaseException) else "")


def system_message(error: OSError) -> str:
    """The message of a system error on one line, with the name of the file."""
    return in_one_line(f"{error.filename or 'input or output'}: {error.strerror or error}", None)


class HolisticBiasError(Exception):
    """An error that the user can fix; the message says how.

    ``exit_code`` is that of the process: 1 if a check found something wrong,
    2 if the command could not run.
    """

    exit_code = 2


@contextmanager
def system_errors_as(error: type[HolisticBiasError]) -> Iterator[None]:
    """Raise ``error`` in place of a system error within a block or a function, in the words that commands print."""
    try:
        yield
    except OSError as cause:
        raise error(system_message(cause)) from cause


class WithdrawnVersionWarning(UserWarning):
    """A version was withdrawn: it is what was published, and its record says why it should no longer be used."""


class SourceError(HolisticBiasError):
    """The folder of terms is missing, unreadable or invalid."""


class UnknownVersionError(HolisticBiasError):
    """A version without a file in ``releases/``."""


class UnknownTermError(HolisticBiasError):
    """A term that is not in the catalog."""


class ReleaseError(HolisticBiasError):
    """A folder that is not a release, or not the release that its manifest names."""


class OutputError(HolisticBiasError):
    """A file or folder that cannot be written."""


class HubError(HolisticBiasError):
    """The Hugging Face Hub is unreachable, refuses a request, or does not have the release."""


class PublishError(HolisticBiasError):
    """A release that cannot be published: it is a part, in preparation, or differs from the published version."""
