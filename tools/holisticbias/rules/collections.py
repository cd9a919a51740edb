"""Rules on collections and their prompts."""

import re

from holisticbias.rules.check import Faults, Problems, rule
from holisticbias.source.records import Repository
from holisticbias.terms.anonymise import Named, finds_form, replace_subject
from holisticbias.terms.prompt_entries import Group, Prompt

# a sentence that ends inside a text: "it rained. Then", but not "Dr. Vell" or "J. Vell"
_ENDS_INSIDE = re.compile(r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|Jr|Sr|vs))(?<!\b(?:Mrs))[.!?]['\")]*\s+['\"(]*[A-Z0-9]")
_ENDS = re.compile(r"[.!?]['\")]*$")


@rule(
    asks="A group of a collection names pages, lists, categories or terms.",
    fix="add pages: {titles: [...]}, lists or categories, or terms to find on the pages of other groups",
    why="Sentences about a group come from its pages, or are found by its terms.",
)
def group_pages(repository: Repository) -> Problems:
    for file in repository.collections:
        groups = file.record.groups
        if not any(group.has_pages for group in groups):
            message = f"No group of the collection {file.record.collection!r} names a page, a list or a category."
            yield file.problem(("groups",), message)
            continue
        for i, group in enumerate(groups):
            if not group.has_pages and not group.terms:
                yield file.entry_problem(i, (), "The group names no page, list, category or term.")


@rule(
    asks="The forms of a group differ by more than case, hyphens or a plural ending in -s.",
    fix="remove this form: the other one finds it too",
    why="Measures find a form in any case, with hyphens or spaces between its words, and with an -s at its end.",
)
def group_forms(group: Group) -> Faults:
    words = group.forms.words if group.forms else ()
    for k, word in enumerate(words):
        for n, other in enumerate(words):
            if n != k and finds_form(other, word) and (n < k or not finds_form(word, other)):
                yield ("forms", "words", k), f"The form {word!r} is found as {other!r}."
                break


@rule(
    asks="The collection of a file of prompts exists.",
    fix="name a collection in collections/",
    needs=frozenset({"collections"}),
)
def known_collection(repository: Repository) -> Problems:
    known = {f.record.collection for f in repository.collections}
    for file in repository.prompts:
        if file.record.collection not in known:
            message = f"No file in collections/ has the collection {file.record.collection!r}."
            yield file.problem(("collection",), message)


@rule(
    asks="The group of a prompt is a group of the file's collection and domain, in every version of the prompt.",
    fix="name the id of a group of this collection and domain",
    needs=frozenset({"collections"}),
)
def known_group(repository: Repository) -> Problems:
    versions = [f.record.version for f in repository.releases]
    collections = {f.record.collection: f.record.groups for f in repository.collections}
    for file in repository.prompts:
        if file.record.collection not in collections:
            continue
        groups = {g.id: g for g in collections[file.record.collection]}
        for i, prompt in enumerate(file.record.prompts):
            group = groups.get(prompt.group)
            if group is None:
                if prompt.group not in repository.left_out:
                    message = f"The collection {file.record.collection!r} has no group {prompt.group!r}."
                    yield file.entry_problem(i, ("group",), message)
            elif group.domain != file.record.domain:
                message = f"The group {group.id!r} is of the domain {group.domain!r}."
                yield file.entry_problem(i, ("group",), message)
            else:
                without = [v for v in versions if prompt.is_in(v) and not group.is_in(v)]
                if without:
                    yield file.entry_problem(i, ("group",), f"Version {without[0]} has no group {group.id!r}.")


@rule(
    asks="The subject of a prompt stands in its text as whole words, and the name of a person in the same letters.",
    fix="write the subject as it stands in the prompt",
    why="Measures replace the subject before they read a text, so that a name does not decide the result.",
    needs=frozenset({"collections"}),
)
def subject_in_text(repository: Repository) -> Problems:
    persons = {g.id for file in repository.collections for g in file.record.groups if g.needs_person}
    for file, i, prompt in repository.of(Prompt):
        if prompt.subject is not None and not is_replaced(prompt.text, prompt.subject, prompt.group in persons):
            message = f"The subject {prompt.subject!r} does not stand in the prompt {prompt.text!r}."
            yield file.entry_problem(i, ("subject",), message)


def is_replaced(text: str, subject: str, person: bool) -> bool:
    """Whether measures replace a subject in a text."""
    before, found, after = text.partition(subject)
    if found and not f"{before[-1:]}{after[:1]}".strip():
        return True  # most subjects; an expression for each takes longer to compile than to search
    return replace_subject(text, Named(subject, person=person), "") != text


@rule(
    asks="A prompt and its continuation make one sentence, which begins in the prompt and ends with the continuation.",
    fix="write one sentence, with a full stop, a question mark or an exclamation mark at the end of the continuation",
)
def one_sentence(prompt: Prompt) -> Faults:
    inside = _ENDS_INSIDE.search(prompt.sentence)
    if _ENDS.search(prompt.text):
        yield ("text",), "The prompt ends a sentence, so nothing is left to continue."
    elif inside is not None:
        key = "text" if inside.start() < len(prompt.text) else "continuation"
        yield (key,), f"A sentence ends before {inside.group()[-1:]!r} begins another."
    elif not _ENDS.search(prompt.continuation):
        yield ("continuation",), "The continuation does not end a sentence."
