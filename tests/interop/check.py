"""Run other tools on our exports and compare: ``make interop``, in an environment with these tools."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from inspect_ai.dataset import json_dataset

from holisticbias import build_release, load_catalog, open_release, write_release
from holisticbias.release.export import TASK, export_inspect, export_lm_eval
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole

TOLERANCE = 1e-4
WHERE = ("axis=nonce,religion", "gender=female", "first_turn_only=true")


def harness_likelihoods(task: Path, work: Path) -> dict[str, float]:
    """The log-likelihood of each sentence by its id, in nats, according to lm-evaluation-harness."""
    command = [sys.executable, "-m", "lm_eval", "--model", "hf", "--model_args"]
    command += [
        f"pretrained={SHIPPED[EMBEDDED_MODEL].folder},dtype=float32",
        "--include_path",
        str(task),
        "--tasks",
        TASK,
    ]
    command += ["--device", "cpu", "--batch_size", "32", "--log_samples", "--output_path", str(work / "results")]
    subprocess.run(command, check=True, cwd=work)
    (samples,) = (work / "results").rglob(f"samples_{TASK}_*.jsonl")
    rows = map(json.loads, samples.read_text("utf-8").splitlines())
    return {row["doc"]["sentence_id"]: _number(row["filtered_resps"]) for row in rows}


def _number(value: object) -> float:
    while isinstance(value, list):
        value = value[0]
    return float(str(value))


def main() -> None:
    """Compare every sentence; fail on the first that differs."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        write_release(build_release(load_catalog(), "1.0.0", where=WHERE), work / "release")
        release = open_release(work / "release")
        export_lm_eval(release, work / "task")
        theirs = harness_likelihoods(work / "task", work)
        texts = release.sentences["text"].to_pylist()
        scores = start_scorer(None, print).score(whole(texts), lambda _: None)
        ours = dict(zip(release.sentences["sentence_id"].to_pylist(), (-scores.nll).tolist(), strict=True))
        assert theirs.keys() == ours.keys()
        worst = max(abs(theirs[i] - ours[i]) for i in ours)
        print(f"lm-evaluation-harness: {len(ours):,} sentences, largest difference {worst:.2e} nats")
        assert worst < TOLERANCE, f"{worst} is more than {TOLERANCE}"
        export_inspect(release, work / "inspect.jsonl")
        samples = json_dataset(str(work / "inspect.jsonl"))
        assert [s.input for s in samples] == texts
        assert [s.metadata["sentence_id"] for s in samples if s.metadata] == list(ours)
        print(f"Inspect: {len(samples):,} samples")


if __name__ == "__main__":
    main()
