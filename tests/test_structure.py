"""The rules of the structure: see ``docs/extending.md``."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = [path for folder in ("tools", "evaluation") for path in sorted((ROOT / folder).rglob("*.py"))]
NAMED = ("commands", "measures", "tasks")
"""Folders with a module for each command, measure and task."""


def lines_of_code(path: Path) -> int:
    """The lines that are not blank, a comment or a docstring."""
    text = path.read_text("utf-8")
    texts = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    left_out = {line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = (line.strip() for number, line in enumerate(text.splitlines(), 1) if number not in left_out)
    return sum(bool(line) and not line.startswith("#") for line in lines)


def class_names(path: Path) -> Iterator[str]:
    """The names of all classes of a module, of those within functions too."""
    return (node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef))


def test_a_class_name_occurs_once() -> None:
    names = Counter(name for path in MODULES for name in class_names(path))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_folder_has_more_than_16_modules() -> None:
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py" and path.parent.name not in NAMED)
    assert {str(folder): count for folder, count in folders.items() if count > 16} == {}


def test_no_module_has_more_than_300_lines() -> None:
    lengths = {str(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > 300} == {}


def test_a_module_of_tasks_has_at_most_120_lines() -> None:
    tasks = (ROOT / "evaluation" / "holisticbias_eval" / "tasks").glob("*.py")
    assert {path.name: lines for path in tasks if (lines := lines_of_code(path)) > 120} == {}


def test_fragments_of_changes_name_no_issue() -> None:
    """Towncrier takes what stands before the first dot for an issue, and prints it, unless it begins with +."""
    names = {path.name for path in (ROOT / "changes").iterdir()} - {"README.md"}
    assert [name for name in sorted(names) if not name.startswith("+")] == []


def test_documents_name_files_that_exist() -> None:
    """Paths with a word in capitals or with "my" stand for others."""
    pages = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    path = re.compile(r"\b(?:tests|benchmarks|calibration|evaluation|tools)/[a-z0-9_./-]+\.(?:py|yaml|md|json)\b")
    named = {found for page in pages for found in path.findall(page.read_text("utf-8")) if "/my_" not in found}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
