"""Every rule of the files of terms.

A module-level ``Rule`` in one of ``MODULES`` is a rule: ``validate`` checks it, and it gets a page in ``docs/rules``.
"""

from __future__ import annotations

from collections.abc import Mapping

from holisticbias.rules import (
    characters,
    collections,
    duplicates,
    language,
    lifecycle,
    phrases,
    published,
    references,
    specifications,
    waivers,
    wording,
)
from holisticbias.source import reading_rules
from holisticbias.source.rule import Rule

MODULES = (
    reading_rules,
    references,
    duplicates,
    characters,
    language,
    wording,
    phrases,
    collections,
    specifications,
    lifecycle,
    published,
    waivers,
)
RULES: Mapping[str, Rule] = {
    found.id: found for module in MODULES for found in vars(module).values() if isinstance(found, Rule)
}
