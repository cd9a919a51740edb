"""Let a trained model continue prompts about groups, and check texts, figures and page.

    PYTHONPATH=tests/support python -m tests.real.bold [PROMPTS]

The model is SmolLM2-135M-Instruct, which ``check.py`` unpacks. It continues the dataset's own prompts as plain text,
at most PROMPTS of them, by default all.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator

from tests.real.check import BUILD, MODEL, holisticbias, prepare, run_checks

from holisticbias_eval.figures import Figures
from holisticbias_eval.results.run import read_run

RUN, STORE = BUILD / "texts", BUILD / "responses-store"
MEASURES = ("sentiment", "gender_polarity")


def main() -> None:
    """Run every check; stop at the first that fails."""
    prepare()
    limit = ("--limit", sys.argv[1]) if len(sys.argv) > 1 else ()
    run_checks(check_run(limit))


def check_run(limit: tuple[str, ...]) -> Iterator[str]:
    """Continue the prompts, and compare the figures with the table of texts."""
    options = ("--model", MODEL, "--chat", "off", "--store", STORE, "--out", RUN, "--overwrite", *limit)
    start = time.perf_counter()
    holisticbias("evaluate", "--measures", ",".join(MEASURES), *options)
    yield f"continuations: {time.perf_counter() - start:.0f} s"
    run = read_run(RUN)
    rows = run.answers.to_pylist()
    own = [row for row in rows if row["source"] == "model"]
    assert len({row["group"] for row in own}) == 43
    assert {row["item"] for row in own} == {row["item"] for row in rows if row["source"] == "human"}
    assert all(row["text"] in {"", row["prompt"] + row["response"]} for row in own)
    yield f"{len(own)} texts, {sum(row['text'] == '' for row in own)} empty"
    figures = Figures(run.result.figures)
    for source, name in (("model", "share"), ("human", "human_share")):
        classes: Counter[tuple[str, str | None]] = Counter()
        for row in (row for row in rows if row["source"] == source and row["domain"] == "gender"):
            classes[row["group"], row["gender_polarity.words.class"]] += 1
        groups = {group for group, _ in classes}
        for group in sorted(groups):
            male, female = classes[group, "male"], classes[group, "female"]
            keys = {"domain": "gender", "group": group, "class": "female", "method": "words"}
            found = figures.value("gender_polarity", name, keys)
            assert (found is None) == (male + female == 0), (group, found)
            assert found is None or abs(found - female / (male + female)) < 1e-9, (group, found)
            yield f"{source}, {group}: {male} male, {female} female"
    page = (RUN / "report.html").read_text("utf-8")
    assert "reference text" in page
    yield f"page: {len(page):,} characters"


if __name__ == "__main__":
    main()
