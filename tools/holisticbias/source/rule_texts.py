"""Every rule that a file can break: its id, its level and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias.source.findings import Finding, Level


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the data: what it asks for, and how a contributor mends what breaks it."""

    asks: str
    mend: str
    level: Level = "error"


RULES: dict[str, Rule] = {
    # bytes and format
    "unreadable": Rule("Every file can be read.", "give the file read permission, or remove it"),
    "file-too-large": Rule("A file has at most 5 MB.", "split the file"),
    "not-utf8": Rule("Files are UTF-8.", "save the file as UTF-8"),
    "byte-order-mark": Rule("No byte order mark.", "save the file as UTF-8 without a byte order mark"),
    "line-endings": Rule("Lines end with a line feed.", "save the file with Unix line endings (LF)"),
    "not-nfc": Rule("Text is in Unicode normal form C.", "write the letter and its accent as one character"),
    "yaml-syntax": Rule("Files are plain YAML.", "correct the YAML at this place"),
    "duplicate-key": Rule("A key stands once in a mapping.", "keep one of the two"),
    "ambiguous-scalar": Rule("No YAML 1.1 surprises.", "put the text between quotes"),
    "too-many-values": Rule("Aliases do not unfold without bound.", "write the values out, without aliases"),
    "too-deep": Rule("Values are nested at most 40 deep.", "remove the nesting"),
    "lock-syntax": Rule("A lock is JSON.", "restore the lock from the branch that it comes from"),
    # schema
    "schema": Rule("Files follow the schema.", "see schema/, or the examples beside this entry"),
    "unknown-key": Rule("Every key is one that the schema names.", "correct or remove the key"),
    "missing-key": Rule("Every required key is there.", "add the key"),
    # references
    "unique-id": Rule("An id belongs to one entry.", "give this entry an id of its own; never reuse an id"),
    "id-place": Rule(
        "An id begins with its file's axis, family or 'noun'.", "begin the id as the others in this file do"
    ),
    "unique-text": Rule("A text stands once under an axis.", "remove this entry, or correct its text"),
    "unique-file": Rule("One file per axis, gender, family and version.", "move the entries into the other file"),
    "known-bucket": Rule("A bucket is declared at the head of its file.", "use a declared bucket, or declare this one"),
    "bucket-needed": Rule("Where a file has buckets, each entry names one.", "add the bucket"),
    "known-source": Rule("A source is listed in sources.yaml.", "list the source in sources.yaml"),
    "known-replacement": Rule("What replaces an entry exists.", "name an id that exists"),
    "known-version": Rule("A version is listed in releases/.", "use a version that has a file in releases/"),
    "known-descriptor": Rule("A subset lists descriptors that exist.", "name a descriptor's id"),
    "known-selector": Rule("intersections.yaml names what exists.", "name an axis, an id, or axis/bucket"),
    "assessment-source": Rule("A judgement is attributed.", "name the reviewer or the source of the judgement"),
    "known-noun": Rule("What contradicts a term is a noun or a gender.", "name a noun's id or a gender of nouns/"),
    "known-template": Rule(
        "A paraphrase or an opposite names another template, which is not a paraphrase itself.",
        "name an original template",
    ),
    # language
    "clean-text": Rule("Text is plain words.", "write the text without this character"),
    "hidden-character": Rule("Text has no characters that cannot be seen.", "remove the character"),
    "slot": Rule(
        "A template has one slot, {noun_phrase} or {plural_noun_phrase}.",
        "write {noun_phrase} or {plural_noun_phrase} once, with no other braces",
    ),
    "position": Rule("A term that begins like 'who is' or 'with' stands after the noun.", "set position: after"),
    "plural-needed": Rule(
        "A term that changes in the plural gives its plural.", "add the plural, as in 'with disabilities'"
    ),
    "article-unused": Rule("A term after the noun has no article.", "remove the article"),
    "article-written": Rule("The article is not part of the text.", "write the text without the article"),
    "agreement": Rule(
        "A verb has the number of whom it speaks of.", "correct the verb: 'who is', in the plural 'who are', and so on"
    ),
    "noun-gender": Rule("A gender that terms go with has nouns.", "use a gender that nouns/ has, or add nouns"),
    "article-stated": Rule(
        "An abbreviation states its article.", "add article: an (read as letters, 'an FTM') or article: a ('a BIPOC')"
    ),
    "paraphrase-alike": Rule(
        "A paraphrase has the slot, the marks and the opposite of what it paraphrases.",
        "give it the slot, must_be_noun, first_turn_only and opposite_of of that template",
    ),
    "latin-letters": Rule("Words are in Latin letters.", "type the word again; a letter only looks Latin"),
    "near-duplicate": Rule(
        "New texts differ by more than case, hyphens or look-alike letters.", "use the entry that is there already"
    ),
    "phrase-twice": Rule(
        "A phrase on its own is none that a term and a noun make.", "use the term that is there already, with its noun"
    ),
    # lifecycle
    "version-order": Rule("since < until, and history in between.", "put the versions in order"),
    "published-removed": Rule(
        "A published version keeps its entries.", "put the entry back, with until: and the next version"
    ),
    "published-changed": Rule(
        "An entry stays as it was in a published version.",
        "add to its history: {until: the next version, what changed: the old value, reason: why}",
    ),
    "published-added": Rule("A published version gets no new entries.", "set since to the next version"),
    "published-order": Rule(
        "Entries keep their order.", "put the entry back where it was; new entries go anywhere between"
    ),
    "published-lock": Rule(
        "A published version has a digest and a lock.", "run holisticbias releases --freeze VERSION"
    ),
    # review
    "reviewer-twice": Rule(
        "A reviewer judges a term once in a locale.",
        "keep one, or say with since when the newer one counts",
    ),
    "quorum": Rule(
        "A term goes when two reviewers or a publication object to it, or another takes its place.",
        "record the judgement of a second reviewer with holisticbias assess; or, where nobody objects to the term, "
        "say in replaced_by what takes its place",
    ),
    "waiver-stale": Rule("A waiver is needed.", "remove it; waivers only become fewer"),
    "waiver-new": Rule("New entries keep every rule.", "mend the entry instead of waiving the rule"),
    # build
    "empty-version": Rule("A version has descriptors, nouns and templates.", "check the versions in since and until"),
}


def report(
    rule: str, path: str, place: tuple[int, int], message: str, entry: str = "", mend: str | None = None
) -> Finding:
    """A finding of that rule, with the rule's own level and, unless another is given, its own mend."""
    line, column = place
    return Finding(path, line, column, rule, RULES[rule].level, entry, message, mend or f"{RULES[rule].mend}.")
