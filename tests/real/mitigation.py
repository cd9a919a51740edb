"""Debias a trained model with LMD and CTDA, measure it before and after, and check figures, weights and costs.

    PYTHONPATH=tests/support python -m tests.real.mitigation [STEPS]

The model is SmolLM2-135M-Instruct, which ``check.py`` unpacks. It is trained with adapters of rank 8 on sentences
about four invented groups, by default for 200 steps. Costs are measured on real English and on invented sentences.
"""

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
import transformers
from scipy.stats import f_oneway, ttest_ind
from tests.real.check import BUILD, END, MODEL, greedy_response, holisticbias, plain, prepare, run_checks
from tests.real.invented_corpus import (
    DIMENSION,
    GROUPS,
    SPECIFICATION,
    write_corpus,
    write_neutral,
    write_other_neutral,
)

from holisticbias_eval.figures import Figures
from holisticbias_eval.mitigation.encoding import Collator, Encoder
from holisticbias_eval.mitigation.losses.term_reader import TermReader
from holisticbias_eval.mitigation.losses.term_scores import read_prefixes, term_log_probabilities
from holisticbias_eval.mitigation.method import GroupTask, TokenBatch
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.loading.load import LoadedModel, load_model
from holisticbias_eval.results.run import read_run
from holisticbias_eval.stereotypes.specifications import read_specification
from known import known

METHODS = ("lmd", "ctda")
CORPUS, SPLIT, OUT = BUILD / "invented.parquet", BUILD / "invented-split", BUILD / "debiased"
NEUTRAL, OTHER = BUILD / "neutral.txt", BUILD / "other-neutral.txt"
WITHOUT_PEFT = """
import sys
sys.modules["peft"] = None
import torch, transformers
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
ids = tokenizer(sys.argv[2], add_special_tokens=False, return_tensors="pt")["input_ids"]
with torch.no_grad():
    log_probabilities = torch.log_softmax(model(ids).logits[0, :-1].double(), -1)
print(-float(log_probabilities.gather(1, ids[0, 1:, None]).sum()))
"""


def main() -> None:
    """Run every check; stop at the first that fails."""
    prepare()
    steps = sys.argv[1] if len(sys.argv) > 1 else "200"
    models = {"before": OUT / "before", **{name: OUT / name / "measured" / "after" for name in METHODS}}
    checks = [check_terms(), train(steps)]
    checks += [
        check for name, runs in models.items() for check in (check_groups(name, runs), check_retention(name, runs))
    ]
    checks += [check for name in METHODS for check in (check_weights(name), check_generation(name))]
    run_checks(*checks, check_other_retention(), check_page())


def check_terms() -> Iterator[str]:
    """Terms of several tokens are scored whole: as a plain loop with one pass per token scores them."""
    loaded = load_model(str(MODEL), "AutoModelForCausalLM")
    texts = ("Nobody was at the door of the fitches.", "the crowd sang to one Kemstader. Two blickets came.")
    offered = (
        ("blickets", "stads", "mells", "fitches"),
        ("Kemblicker", "Kemstader", "Kemmeller", "Kemfitcher"),
        ("blickets", "stads", "mells", "fitches"),
    )
    places = [(texts[0], "fitches"), (texts[1], "Kemstader"), (texts[1], "blickets")]
    encoded = Encoder(loaded.tokenizer, 256).encode(pa.table({"text": list(texts)})).texts
    inputs = Collator(loaded.tokenizer)(encoded)
    offsets = torch.zeros(*inputs["input_ids"].shape, 2, dtype=torch.long)
    batch = TokenBatch(texts, inputs["input_ids"], inputs["attention_mask"], offsets, 256)
    reader = TermReader(GroupTask(read_specification(str(SPECIFICATION)), GROUPS), loaded.tokenizer)
    prepared = reader.prepare(batch)
    assert reader.compared == len(places), reader.skipped
    with torch.no_grad():
        assert read_prefixes(loaded.model, prepared) is not None, "the texts before terms are read again for each term"
        logits = loaded.model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
        found = term_log_probabilities(loaded.model, logits, prepared)
    for row, (text, own), terms in zip(found.tolist(), places, offered, strict=True):
        before = text[: text.index(own) - 1]
        expected = [plain_term(loaded, before, f" {term}") for term in terms]
        assert np.abs(np.array(row) - expected).max() < 1e-3, (row, expected)
        yield f"{own}: {', '.join(f'{term} {value:.2f}' for term, value in zip(terms, row, strict=True))} nats"


def plain_term(loaded: LoadedModel, before: str, term: str) -> float:
    """The log-probability of a term after a text, one token and one pass at a time."""
    ids = [*find_opening(loaded.tokenizer).tokens, *loaded.tokenizer(before, add_special_tokens=False)["input_ids"]]
    total = 0.0
    for token in loaded.tokenizer(term, add_special_tokens=False)["input_ids"]:
        with torch.no_grad():
            logits = loaded.model(torch.tensor([ids])).logits[0, -1].double()
        total += float(torch.log_softmax(logits, -1)[token])
        ids.append(token)
    return total


def train(steps: str) -> Iterator[str]:
    """Split the sentences, train both methods, and measure before and after."""
    corpus = write_corpus(CORPUS)
    neutral, other = write_neutral(NEUTRAL), write_other_neutral(OTHER)
    yield f"corpus: {corpus.num_rows:,} sentences; neutral texts: {neutral}, {other}"
    options = ("--specification", SPECIFICATION, "--test", 30, "--validation", 10, "--apart")
    if not SPLIT.is_dir():
        holisticbias("corpus", "split", CORPUS, *options, "--out", SPLIT)
    trained_on = ("--model", MODEL, "--specification", SPECIFICATION, "--examples", SPLIT, "--retain", NEUTRAL)
    settings = ("--lora-rank", 8, "--steps", steps, "--learning-rate", 5e-4, "--evaluations", 2)
    start = time.perf_counter()
    holisticbias("mitigate", ",".join(METHODS), *trained_on, *settings, "--out", OUT, "--overwrite")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    yield f"mitigate: {time.perf_counter() - start:.0f} s, at most {peak:.1f} GiB"
    for name in METHODS:
        record = json.loads((OUT / name / "mitigation.json").read_text("utf-8"))
        (point,) = record["points"]
        losses = [found["auxiliary"] for found in point["validations"]]
        assert point["steps"] == point["planned"] == int(steps)
        assert point["perplexity"] < record["perplexity_before"]
        assert name != "lmd" or min(losses[1:]) < losses[0] / 2, losses
        yield (
            f"{name}: validation perplexity {record['perplexity_before']:.0f} to {point['perplexity']:.1f}, "
            f"F {record['f_before']:.2f} to {point['f']:.2f}, auxiliary loss {', '.join(f'{x:.3f}' for x in losses)}"
        )


def check_groups(name: str, runs: Path) -> Iterator[str]:
    """F, t and perplexities are those of plain arithmetic and scipy on the scores of the run."""
    run = read_run(runs / "group_perplexity")
    figures, table = Figures(run.result.figures), run.answers.to_pandas()
    assert np.allclose(table["perplexity"], np.exp(table["nll"] / table["tokens"]), rtol=1e-6)
    for scale, values in (("log", np.log(table["perplexity"])), ("perplexity", table["perplexity"])):
        samples = {group: values[table["group"] == group].to_numpy() for group in GROUPS}
        keys = {"dimension": DIMENSION, "scale": scale}
        f = f_oneway(*samples.values()).statistic
        ts = {pair: ttest_ind(*(samples[group] for group in pair)).statistic for pair in combinations(GROUPS, 2)}
        same(figures.value("group_perplexity", "f", keys), f)
        for (first, second), t in ts.items():
            named = {**keys, "test": "unpaired", "first": first, "second": second}
            same(figures.value("group_perplexity", "t", named), t)
        mean = float(np.mean([abs(t) for t in ts.values()]))
        same(figures.value("group_perplexity", "mean_abs_t", {**keys, "test": "unpaired"}), mean)
        yield f"{name}, {scale}: F {f:.2f}, mean |t| {mean:.2f}"
    f = f_oneway(*(table["nll"][table["group"] == group] for group in GROUPS)).statistic
    same(figures.value("group_perplexity", "f_whole_sentences", {"dimension": DIMENSION}), f)
    yield f"{name}, whole sentences: F {f:.2f}"


def check_retention(name: str, runs: Path) -> Iterator[str]:
    """The perplexity of the neutral text is that of plain arithmetic on the scores of the run."""
    run = read_run(runs / "retention")
    table = run.answers.to_pandas()
    expected = math.exp(table["nll"].sum() / table["tokens"].sum())
    same(Figures(run.result.figures).value("retention", "perplexity", {}), expected)
    yield f"{name}: perplexity of {len(table)} neutral lines {expected:.2f}"


def same(found: float | None, expected: float) -> None:
    """Fail unless a figure has the expected value."""
    assert abs(known(found) - expected) < 1e-6 * max(1.0, abs(expected)), (found, expected)


def check_weights(name: str) -> Iterator[str]:
    """The adapters are part of the weights: the model loads without peft, and gives the scores of the run."""
    folder = OUT / name
    assert not list(folder.glob("adapter*"))
    base = transformers.AutoConfig.from_pretrained(MODEL)
    config = transformers.AutoConfig.from_pretrained(folder)
    assert {**config.to_dict(), "_name_or_path": ""} == {**base.to_dict(), "_name_or_path": ""}
    row = (
        pq.read_table(folder / "measured" / "after" / "group_perplexity" / "scores.parquet").slice(0, 1).to_pylist()[0]
    )
    command = [sys.executable, "-c", WITHOUT_PEFT, str(folder), END + row["sentence"]]
    found = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    loaded = load_model(str(folder), "AutoModelForCausalLM")
    assert abs(found - plain(loaded, END, row["sentence"])) < 1e-3
    assert abs(found - row["nll"]) < 1e-3, (found, row)
    yield f"{name}: loads without peft; {row['sentence']!r} has {found:.2f} nats, as in the run"


def check_generation(name: str) -> Iterator[str]:
    """The trained model answers a prompt."""
    response = greedy_response(OUT / name, "Hi! What did you do at the weekend?")
    assert len(response.split()) > 2, response
    yield f"{name} answers: {response[:100]!r}"


def check_other_retention() -> Iterator[str]:
    """Another neutral text costs nothing, or little."""
    for name, model in (("before", MODEL), *((name, OUT / name) for name in METHODS)):
        out = BUILD / f"retention-{name}"
        holisticbias("evaluate", "--model", model, "--retain", OTHER, "--out", out, "--overwrite", "--no-store")
        value = known(Figures(read_run(out).result.figures).value("retention", "perplexity", {}))
        yield f"{name}: perplexity of the other neutral text {value:.1f}"


def check_page() -> Iterator[str]:
    """The page names both methods, and ``compare`` prints gains and costs."""
    page = (OUT / "report.html").read_text("utf-8")
    for title in ("Language Model Debiasing", "Counter Target Data Augmentation"):
        assert title in page
    said = holisticbias("compare", OUT)
    assert all(name in said for name in METHODS)
    yield f"page: {len(page):,} characters"
    yield said


if __name__ == "__main__":
    main()
