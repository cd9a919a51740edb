"""Every rule of the files of terms.

A module-level ``Rule`` in one of ``MODULES`` is a rule: ``validate`` checks it, and it gets a page in ``docs/rules``.
"""

from collections.abc import Mapping
from importlib import import_module

from holisticbias.source import reading_rules
from holisticbias.source.findings import Rule

_NAMES = (
    "references",
    "duplicates",
    "characters",
    "language",
    "wording",
    "phrases",
    "collections",
    "specifications",
    "lifecycle",
    "published",
)
MODULES = (reading_rules, *(import_module(f"{__name__}.{name}") for name in _NAMES))
RULES: Mapping[str, Rule] = {
    rule.id: rule for module in MODULES for rule in vars(module).values() if isinstance(rule, Rule)
}
