"""Cards of the classifiers that judged texts, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_FACTS = {"task": "Task", "classifier_model": "Model", "licence": "Licence", "source": "Source", "limits": "Limits"}
"""What is said of a classifier, in this order, by the name of its property."""


def classifier_cards(classifiers: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The title of each classifier, and its task, model, licence, source and limits as far as they are known.

    ``classifiers`` has the properties of each by its id, as in a run's signature.
    """
    for name, about in classifiers.items():
        facts = (f"{said}: {about[fact].strip().rstrip('.')}." for fact, said in _FACTS.items() if about.get(fact))
        yield f"Classifier: {about.get('title') or name}", " ".join(facts)
