"""Records of what was asked to make the content of a folder, and whether other content may replace it."""

from abc import abstractmethod
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from holisticbias_eval.errors import EvaluationError, RunError
from holisticbias_eval.figures import Part


class FolderRecord(Part):
    """A record in a folder, such as ``sentences.json``."""

    @property
    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """The properties that are equal if two folders hold the same."""

    def may_replace(self, file: Path, what: str, error: type[EvaluationError] = RunError, *, overwrite: bool) -> bool:
        """Whether a folder with this ``file`` may be replaced: it holds the same, or anything if ``overwrite``.

        ``what`` is in its folder. Raises ``error`` if a record is there that cannot be read, or of something else.
        """
        if overwrite or not file.is_file():
            return file.is_file()
        advice = "name another folder with --out, or replace it with --overwrite"
        try:
            old = type(self).model_validate_json(file.read_bytes())
        except (OSError, ValidationError) as cause:
            raise error(f"{file} is damaged or of another version; {advice}") from cause
        differs = [key for key, value in self.asked.items() if old.asked[key] != value]
        if differs:
            raise error(f"{file.parent} holds {what} ({', '.join(differs)} differ): {advice}")
        return True
