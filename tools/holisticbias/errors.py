"""What can go wrong for a user. Caught in the CLI alone, printed as one line."""

from __future__ import annotations


class HolisticBiasError(Exception):
    """A mistake or a circumstance that the user can mend; the message says how.

    ``exit_code`` is the process's exit code: 1 when something was checked and
    found wrong, 2 when the command could not run.
    """

    exit_code = 2


class SourceError(HolisticBiasError):
    """The folder of terms is missing, unreadable or invalid."""


class UnknownVersionError(HolisticBiasError):
    """A version that no file in ``releases/`` describes."""


class UnknownTermError(HolisticBiasError):
    """A term that the catalog does not hold."""


class ReleaseError(HolisticBiasError):
    """A folder that is not a release, or not the release it says it is."""


class OutputError(HolisticBiasError):
    """A folder that cannot be written."""


class HubError(HolisticBiasError):
    """The Hugging Face Hub cannot be reached, refuses, or does not have what was asked for."""


class PublishError(HolisticBiasError):
    """A release that is not published, because of what it is or of what is published already."""
