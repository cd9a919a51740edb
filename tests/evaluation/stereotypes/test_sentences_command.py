"""``holisticbias stereotypes sentences``: from a specification and a generator to a folder of sentences and a log."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from tests.evaluation.generation.chat_server import Answering, Body, ChatServer, is_trial, message, only
from tests.evaluation.stereotypes.sentences_by_hand import completions, keywords, lists

from holisticbias_eval.figures import Figures, known
from holisticbias_eval.stereotypes.record import LOG_SCHEMA, MEASURE, SENTENCES_SCHEMA, SentencesRecord
from holisticbias_eval.units import percent
from invoking import Invoke

Servers = Callable[[Answering], ChatServer]
Asked = Callable[..., tuple[object, ...]]

SENTENCES = ("stereotypes", "sentences")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of sentences."""
    return tmp_path / "out"


@pytest.fixture
def asked(own: Path, out: Path, chat_server: Servers) -> Asked:
    """The command that asks a server, or a new one with these answers, for sentences."""

    def command(server: ChatServer | Answering, *options: object) -> tuple[object, ...]:
        base = (server if isinstance(server, ChatServer) else chat_server(server)).base
        api = ("--engine", "api", "--api-base", base, "--generator", "tiny")
        store = () if "--no-store" in options else ("--store", out.parent / "store")
        return (*SENTENCES, "--specification", own, *api, *store, "--out", out, *options)

    return command


def rows(folder: Path, name: str = "requests") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return found


def record(folder: Path) -> SentencesRecord:
    content = json.loads((folder / "sentences.json").read_text("utf-8"))
    jsonschema.validate(content, SentencesRecord.model_json_schema())
    return SentencesRecord.model_validate(content)


COMPLETIONS = ("--api-endpoint", "completions", "--decoding", "autobiastest-list")


def test_every_text_is_on_record(invoke: Invoke, asked: Asked, out: Path) -> None:
    said = invoke.printed(*asked(completions, *COMPLETIONS))
    log, found = rows(out), rows(out, "sentences")
    assert pq.read_schema(out / "requests.parquet").equals(LOG_SCHEMA)
    assert pq.read_schema(out / "sentences.parquet").equals(SENTENCES_SCHEMA)
    assert {row["accepted"] for row in log} == {True, False}
    assert all(row["accepted"] == (row["rule"] is None) for row in log)
    assert {row["rule"] for row in log} <= {None, "both-terms", "negation", "repeat"}
    assert [row["sentence"] for row in found] == [row["sentence"] for row in log if row["accepted"]]
    for row in found:
        assert row["term"] in row["sentence"]
        assert row["attribute"] in row["sentence"]
        assert row["source"] == "generated"
        assert row["sentence_id"].startswith(f"own.invented/{row['attribute_set']}/{row['attribute']}/")
    assert min(Counter(row["attribute"] for row in found).values()) >= 2
    kept = record(out)
    assert (kept.texts, kept.accepted) == (len(log), len(found))
    assert kept.requests == len({(row["attribute"], row["request"]) for row in log}) < len(log)
    assert kept.refused == Counter(row["rule"] for row in log if row["rule"])
    assert [*kept.refused.values()] == sorted(kept.refused.values(), reverse=True)
    assert not kept.unreached
    assert f"accepted {len(found)} of {len(log)} texts" in said
    assert "3 of 3 attributes have enough sentences" in said
    both_terms = known(Figures(kept.figures).value(MEASURE, "both_terms", {"source": "generated"}))
    assert re.search(rf"Both terms, of all returned +{percent(both_terms)} +100\.0%\n", said)


def test_batches_and_interruptions_change_nothing(
    invoke: Invoke, asked: Asked, chat_server: Servers, out: Path
) -> None:
    many = ("--per-attribute", 9, *COMPLETIONS)
    server = chat_server(completions)
    invoke.printed(*asked(server, *many, "--api-concurrency", 1))
    expected = rows(out)
    assert max(row["request"] for row in expected) >= 2

    def failing(body: Body, turn: int) -> tuple[int, Any]:
        return completions(body, turn) if turn < 25 else (400, {"error": {"message": "no more"}})

    server.answering, server.bodies = failing, []
    other = out.with_name("other")
    again = asked(server, *many, "--no-store", "--out", other)
    assert "no more" in invoke.refused(*again)
    part = rows(out.with_name(".other.part"))
    assert part == expected[: len(part)]
    assert not other.exists()
    server.answering, server.bodies = completions, []
    invoke.printed(*again)
    assert rows(other) == expected
    assert len(server.answered) == len(expected) - len(part)


def test_another_seed_gives_other_sentences(invoke: Invoke, asked: Asked, out: Path) -> None:
    command, other = asked(completions, *COMPLETIONS), out.with_name("other")
    invoke.printed(*command)
    invoke.printed(*command, "--seed", 1, "--out", other)
    assert {row["text"] for row in rows(out)} != {row["text"] for row in rows(other)}
    error = invoke.refused(*command, "--seed", 1)
    assert "holds other sentences (settings differ): name another folder with --out, or replace it" in error
    invoke.printed(*command, "--seed", 1, "--overwrite")
    assert rows(out) == rows(other)
    (out / "sentences.json").write_text("{}", "utf-8")
    error = invoke(*command)[2]
    assert "sentences.json is damaged or of another version: " in error
    assert "; name another folder with --out" in error


def test_a_chat_server_is_asked_for_a_list(invoke: Invoke, asked: Asked, chat_server: Servers, out: Path) -> None:
    server = chat_server(lists)
    invoke.printed(*asked(server, "--per-group", 2))
    found = rows(out, "sentences")
    assert min(Counter((row["attribute"], row["group"]) for row in found).values()) >= 2
    assert all(body["response_format"]["type"] == "json_schema" for body in server.bodies)
    assert {row["sample"] for row in rows(out)} == set(range(5))
    settings = record(out).settings
    assert settings["form"] == "list"
    assert "response_format json_schema" in settings["sent"]


def test_a_server_without_response_formats_is_asked_without(invoke: Invoke, asked: Asked, out: Path) -> None:
    def without(body: Body, turn: int) -> tuple[int, Any]:
        if "response_format" in body:
            return 400, {"error": {"message": "unknown field response_format"}}
        return lists(body, turn)

    invoke.printed(*asked(without))
    assert "response_format" not in record(out).settings["sent"]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (message(""), "malformed-list"),
        (message("[]"), "empty"),
        (message('["\\ud800 blicket \\u0000"]'), "both-terms"),
        (message(json.dumps(["gimble wug blicket <script>alert(1)</script>" * 2000])), "both-terms"),
        (message(None, refusal="I would rather not."), "refused"),
    ],
)
def test_a_generator_that_gives_nothing_usable(invoke: Invoke, asked: Asked, out: Path, answer: Any, rule: str) -> None:
    code, said, error = invoke(*asked(only(answer), "--requests", 2, "--most-words", 20))
    assert (code, "Traceback" in error) == (1, False)
    assert "own.invented: gimble (calm): too few sentences in 2 requests: 0" in said
    assert "0 of 3 attributes have enough sentences" in said
    log = rows(out)
    assert log
    assert rule in {row["rule"] for row in log}
    assert max(len(row["text"]) for row in log) <= 2000
    assert not rows(out, "sentences")
    kept = record(out)
    figures = {figure.name: figure for figure in kept.figures if figure.keys == {"source": "generated"}}
    assert figures["words"].value is None
    assert (kept.figures[0].name, kept.figures[0].value, kept.figures[0].n) == ("yield", 0, len(log))
    assert len(kept.unreached) == 3


def test_a_malformed_list_costs_its_request_and_an_attribute_without_sentences_is_named(
    invoke: Invoke, asked: Asked, out: Path
) -> None:
    def mute(body: Body, turn: int) -> tuple[int, Any]:
        silent = not is_trial(body) and keywords(body["messages"][-1]["content"])[1] == "burble"
        return (200, message('["A blicket', finish="length")) if silent else lists(body, turn)

    said = invoke.printed(*asked(mute, "--requests", 8))
    assert "own.invented: burble (loud): too few sentences in 8 requests: 0" in said
    log = [row for row in rows(out) if row["attribute"] == "burble"]
    assert [(row["sentence"], row["sample"], row["rule"]) for row in log] == [(None, 0, "malformed-list")] * 8
    assert record(out).refused["malformed-list"] == 8
    assert {row["attribute"] for row in rows(out, "sentences")} == {"gimble", "slow-moving"}


def test_attributes_of_no_stereotype_are_not_asked_for_and_named(
    invoke: Invoke, asked: Asked, own: Path, out: Path
) -> None:
    """Such as balanced professions, of which no pair is scored."""
    own.write_text(own.read_text().replace("stereotype: loud", "stereotype: calm"))
    code, _, error = invoke(*asked(lists))
    assert code == 0
    assert "own.invented: 1 attributes are of no group's stereotype" in " ".join(error.split())
    assert {row["attribute"] for row in rows(out)} == {"gimble", "slow-moving"}
    assert {found.attribute for found in record(out).attributes} == {"gimble", "slow-moving"}


LEXICON = "labels: [dreamy, met, sung]\nphrases: {dreamy: [dreamt], met: [I met], sung: [sings]}\n"


def test_a_classifier_refuses_sentences(invoke: Invoke, asked: Asked, card: Callable[..., Path], out: Path) -> None:
    (out.parent / "lexicon.yaml").write_text(LEXICON, "utf-8")
    labels = ["dreamy", "met", "sung"]
    dreams = card(id="dreams", engine="lexicon", model="lexicon.yaml", labels=labels, activation="none")
    judged = asked(completions, "--per-attribute", 9, *COMPLETIONS, "--classifier")
    assert "the card has no label 'angry'; it has dreamy, met, sung" in invoke.refused(*judged, f"{dreams}=angry")
    assert "add the labels that refuse a sentence" in invoke.refused(*judged, dreams)
    invoke.printed(*judged, f"{dreams}=dreamy,sung")
    log = rows(out)
    found = {row["rule"]: row["sentence"] for row in log if str(row["rule"]).startswith("dreams:")}
    assert set(found) == {"dreams:dreamy", "dreams:sung", "dreams:not-judged"}
    assert "dreamt" in found["dreams:dreamy"]
    assert "One " in found["dreams:not-judged"]
    assert all("I met" in row["sentence"] for row in log if row["accepted"])
    recorded = record(out).classifiers["dreams"]
    assert (recorded["labels"], recorded["threshold"]) == ("dreamy, sung", "0.5")
    columns = {column for shard in (out.parent / "store").rglob("*.parquet") for column in pq.read_schema(shard).names}
    assert {"p:dreamy", "p:sung", "response"} <= columns


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--generator m --engine api --api-base http://x --device cpu", "--device is for runs with --engine local"),
        ("--generator m --api-base http://x", "--api-base is for runs with --engine api, and for runs with a --cla"),
        ("--generator m --no-store --store s", "--store is for runs without --no-store"),
        ("--import s.csv --api-base http://x", "--api-base is for runs with a --classifier that is a chat model"),
        ("--import s.csv --classifier vader=negative --device cpu", "--device is for runs with a --classifier of tra"),
        ("--import s.csv --no-store", "--no-store is for runs with --classifier"),
    ],
)
def test_settings_of_classifiers_without_effect_are_refused(
    invoke: Invoke, out: Path, words: str, message: str
) -> None:
    given = ("--specification", "calibration", *words.split(), "--out", out)
    assert message in invoke.refused("stereotypes", "sentences", *given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ask", "text"), "--ask text continues a text: add --api-endpoint completions"),
        (("--nearest", 2), "the generator has no embeddings to choose examples by: give word vectors with --vectors"),
        (("--nearest", 0, "--vectors", "none.txt"), "--vectors is for runs with --nearest"),
    ],
)
def test_mistakes_are_one_line(
    invoke: Invoke, asked: Asked, out: Path, options: tuple[object, ...], message: str
) -> None:
    assert message in invoke.refused(*asked(lists, *options))
    assert not out.exists()


def test_a_local_generator_needs_no_server(invoke: Invoke, own: Path, tiny_gpt2: Path) -> None:
    local = (*SENTENCES, "--specification", own, "--generator", tiny_gpt2, "--out", own.parent / "out")
    assert "the model reads at most 64 tokens; the prompt" in invoke.refused(*local)
    assert "the tokenizer has no chat template" in invoke.refused(*local, "--ask", "chat")
    assert "--ask list is for --engine api" in invoke.refused(*local, "--ask", "list")


def test_the_writer_chooses_examples_by_its_own_embeddings(invoke: Invoke, out: Path) -> None:
    few = ("--nearest", 2, "--requests", 1, "--per-attribute", 1)
    invoke.printed(*SENTENCES, "--specification", "calibration", *few, "--out", out)
    assert "the 2 nearest by the generator's input embeddings" in (out / "sentences.json").read_text("utf-8")


def test_vectors_without_effect_are_refused_before_the_generator_is_loaded(invoke: Invoke, own: Path) -> None:
    words = ("--specification", own, "--generator", own.parent / "none", "--vectors", own, "--out", own.parent / "out")
    assert "--vectors is for runs with --nearest" in invoke.refused(*SENTENCES, *words)


@pytest.mark.parametrize("name", ["calibration", "writer.calibration-control", "control"])
def test_the_writer_is_the_default_for_its_specifications_by_any_name(invoke: Invoke, out: Path, name: str) -> None:
    error = invoke.refused(*SENTENCES, "--specification", name, "--shots", "none", "--no-store", "--out", out)
    assert "there is no file of shots 'none'" in error
