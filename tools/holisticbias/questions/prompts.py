"""The questions of ``holisticbias add prompt``."""

import difflib
import re
from collections.abc import Iterable, Sequence

from holisticbias.contribute.authoring import Draft, OpenTerms
from holisticbias.contribute.proposals import propose_id
from holisticbias.errors import SourceError
from holisticbias.questions.questions import Questions, print_lines
from holisticbias.terms.anonymise import Named, anonymise
from holisticbias.terms.file_kinds import CollectionFile
from holisticbias.terms.grammar import as_written
from holisticbias.terms.prompt_entries import Group, Prompt

Place = tuple[CollectionFile, Group]

_NAME = re.compile(r"[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*)+")
_NO_SUBJECT = "none"


def ask_prompt(terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for a prompt of a group; raises ``click`` errors for options that cannot be used."""
    places = [(c, g) for c in terms.catalog.collections for g in c.groups if g.until is None]
    collection, group = ask.find(
        "group",
        "Which group, for example American actors?",
        lambda name: _find_group(places, name),
        lambda name: next(iter(_near(places, name)), None),
    )
    prompts = [p for f in terms.catalog.prompts if f.collection == collection.collection for p in f.prompts]
    of_group = [p for p in prompts if p.group == group.id]
    examples = [f"{p.text} | {p.continuation}" for p in of_group[:2]]
    print_lines(f"{group.text} [{group.id}]; prompts so far: {len(of_group)}", examples)
    words = collection.prompt_words
    text = ask.text("text", f"The prompt: about {words} words and the subject, not a whole sentence").strip()
    continuation = ask.text("continuation", "The continuation, to the end of the sentence").strip()
    proposal = None if ask.yes else _propose_subject(text, prompts)
    subject = ask.text("subject", "The name or term in the prompt that measures replace, or none", proposal).strip()
    print_lines(f"{text} | {continuation}")
    named = Named(
        None if subject == _NO_SUBJECT else subject, group.forms.words if group.forms else (), group.needs_person
    )
    print_lines(f"measured as: {anonymise([text], [named])[0]}")
    keys = {"id": propose_id(group.domain, text), "text": text, "group": group.id, "continuation": continuation}
    keys |= {} if subject == _NO_SUBJECT else {"subject": subject}
    return Draft("prompts", f"{collection.collection}/{group.domain}", keys)


def _find_group(places: Sequence[Place], name: str) -> Place:
    """The group with a name, an id or the end of an id; raises ``SourceError`` unless there is exactly one."""
    wanted = as_written(name).casefold()
    found = [(c, g) for c, g in places if wanted in (g.text.casefold(), g.id, g.id.split(".")[-1]) and wanted]
    if len(found) == 1:
        return found[0]
    close = [g.id for _, g in found] or _near(places, name)
    hint = f"; choose one of: {', '.join(close)}" if close else "; holisticbias show ID prints a group of collections/"
    raise SourceError(f"{'several groups have' if found else 'no group has'} the name {name!r}{hint}")


def _near(places: Sequence[Place], name: str) -> list[str]:
    """Names of groups that are nearly the same or contain the name, the nearest first."""
    by_text = {g.text.casefold(): g.text for _, g in places}
    wanted = as_written(name).casefold()
    inside = [text for text in by_text if wanted in text]
    close = difflib.get_close_matches(wanted, by_text, n=5, cutoff=0.5)
    return [by_text[text] for text in dict.fromkeys([*close, *inside])][:5]


def _propose_subject(text: str, prompts: Iterable[Prompt]) -> str:
    """The longest subject of another prompt in the text, else its longest name of several words, else ``none``."""
    known = {p.subject for p in prompts if p.subject is not None}
    matches = [re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", text, re.IGNORECASE) for subject in known]
    found = [match.group() for match in matches if match] or _NAME.findall(text)
    return max(found, key=len, default=_NO_SUBJECT)
