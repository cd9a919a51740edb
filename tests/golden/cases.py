"""The recorded cases: command lines, with {in} for the folder of inputs and {out} for that of outputs."""

from __future__ import annotations

from collections.abc import Mapping

RESPONSES = "--where axis=nonce,age --where template=dialogue.im,dialogue.love,dialogue.hate --per-cell 2 --limit 40"

RUNS: Mapping[str, str] = {
    "likelihoods": "evaluate --release {in}/terms",
    "likelihoods-variants": "evaluate --release {in}/terms --variants --where axis=age,nonce --seed 3 "
    "--context-file {in}/contexts.txt --first-token none",
    "likelihoods-writer": "evaluate --release {in}/terms --model embedded-writer",
    "small": "evaluate --release 1.0.0 --where axis=nonce,ability --limit 900",
    "masked": "evaluate --release {in}/mini --model {in}/masked",
    "seat": "evaluate --measure pseudo_likelihood_bias --release {in}/mini --model {in}/masked",
    "pairs": "evaluate --pairs {in}/pairs.csv",
    "pairs-masked": "evaluate --pairs {in}/pairs.csv --model {in}/masked",
    "pairs-published": "evaluate --pairs {in}/pairs.csv --mode published --model {in}/masked",
    "test-set": "evaluate --test-set {in}/group-sentences.csv",
    "test-set-writer": "evaluate --test-set {in}/group-sentences.csv --model embedded-writer",
    "retention": "evaluate --retain {in}/lines.txt",
    "intersections": "evaluate --measure intersections --release {in}/intersections",
    "responses": "evaluate --measure generation_bias,offensiveness,prompt_offensiveness,response_wording "
    f"--release 1.0.0 {RESPONSES}",
    "texts": "evaluate --measure sentiment,norms,gender_polarity --norms {in}/norms.csv --prompts calibration "
    "--limit 6",
    "responses-greedy": "evaluate --measure generation_bias,offensiveness,prompt_offensiveness,response_wording "
    f"--release 1.0.0 --decoding greedy --no-censor {RESPONSES}",
    "texts-greedy": "evaluate --measure sentiment,norms,gender_polarity --norms {in}/norms.csv --prompts calibration "
    "--limit 6 --decoding greedy",
    "texts-sentences": "evaluate --measure sentiment --prompts sentences --model embedded-responder --release 1.0.0 "
    f"{RESPONSES}",
    "given-responses": "evaluate --measure generation_bias,response_wording --responses {in}/responses.csv "
    "--classifier calibration-styles --release {in}/mini",
    "texts-made": "evaluate --measure sentiment --prompts {in}/people.csv --model embedded-writer --samples 3",
}
"""Evaluations: the run's signature, its figures, its answers, and its report as Markdown are recorded."""

TABLES: Mapping[str, str] = {
    "measure-stance": "measure stance_contrast {in}/perplexities.csv",
    "measure-bias": "measure likelihood_bias {in}/perplexities.csv",
    "measure-medians": "measure medians {in}/perplexities.csv",
    "measure-love-hate": "measure love_hate {in}/perplexities.csv",
    "measure-styles": "measure generation_bias {in}/styles.csv",
    "measure-found": "measure generation_bias {in}/styles.csv --clusters found",
    "measure-wording": "measure response_wording {in}/styles.csv",
    "measure-offence": "measure offensiveness {in}/offences.csv",
    "measure-prompt-offence": "measure prompt_offensiveness {in}/offences.csv",
    "measure-outcomes": "measure stereotype_score {in}/outcomes.csv",
    "measure-groups": "measure group_perplexity {in}/groups.csv",
    "measure-retention": "measure retention {in}/neutral.csv",
    "measure-candidates": "measure dialogue_state {in}/candidates.csv",
    "measure-results": "measure retained {in}/results.csv",
    "measure-sentiment": "measure sentiment {in}/texts.csv",
    "measure-sentiment-lines": "measure sentiment {in}/texts.jsonl",
    "measure-polarity": "measure gender_polarity {in}/texts.csv",
    "measure-norms": "measure norms {in}/texts.csv --norms {in}/norms.csv",
}
"""Measures of a user's table: the figures and the tables of details are recorded."""

COMPARED: Mapping[str, tuple[str, str]] = {
    "likelihoods": ("likelihoods", "likelihoods-writer"),
    "masked": ("likelihoods", "masked"),
    "pairs": ("pairs", "pairs-masked"),
    "texts": ("texts", "texts-greedy"),
    "responses": ("responses", "responses-greedy"),
    "retention": ("retention", "retention"),
    "test-set": ("test-set", "test-set-writer"),
    "intersections": ("intersections", "intersections"),
}
"""Two runs that are compared: the report is recorded."""

COMMANDS: Mapping[str, str] = {
    "releases": "releases --check",
    "leaderboard": "leaderboard",
    "show": "show age.young",
    "diff": "diff 1.1.0 2.0.0",
    "classifiers": "classifiers",
    "specifications": "stereotypes specifications",
    "specification": "stereotypes specifications mathematics-or-arts",
    "specification-groups": "stereotypes specifications groups.orientation",
}
"""Commands whose output is recorded."""
