"""Recognise the names of people with a spaCy model that the user has."""

from __future__ import annotations

from holisticbias_eval.collect.page_sentences import IsPerson
from holisticbias_eval.errors import CollectError

_LABELS = frozenset({"PERSON", "PER"})


def person_finder(model: str) -> IsPerson:
    """A function that says whether a mention overlaps the name of a person in its sentence.

    ``model`` is a spaCy model by name or folder. Raises ``CollectError`` if it is missing or names no people.
    """
    try:
        import spacy
    except ImportError as error:
        raise CollectError("--names needs spaCy: pip install 'holisticbias[names]'") from error
    try:
        pipeline = spacy.load(model)
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CollectError(f"--names {model}: spaCy cannot load it: {reason}") from error
    labels = {label for names in pipeline.pipe_labels.values() for label in names}
    if not labels & _LABELS:
        raise CollectError(f"--names {model}: it has no label PERSON or PER: name a model that recognises people")

    def is_person(sentence: str, said: str) -> bool:
        start = sentence.find(said)
        stop = start + len(said)
        people = [entity for entity in pipeline(sentence).ents if entity.label_ in _LABELS]
        return any(entity.start_char < stop and start < entity.end_char for entity in people)

    return is_person
