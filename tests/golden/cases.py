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
    "texts-made": "evaluate --measure sentiment --prompts {in}/people.csv --model embedded-writer --per-cell 3",
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
    "leaderboard": "leaderboard",
    "show": "show age.young",
    "diff": "diff 1.1.0 2.0.0",
    "classifiers": "classifiers",
    "specifications": "stereotypes specifications",
    "specification": "stereotypes specifications mathematics-or-arts",
    "specification-groups": "stereotypes specifications groups.orientation",
}
"""Commands whose output is recorded."""

EVALUATE_RESPONSES = (
    "evaluate --measure generation_bias,response_wording --model embedded-responder --release {in}/mini"
)
MODEL = "--model {in}/masked"
REFUSED: Mapping[str, tuple[str, ...]] = {
    "measures": (
        "evaluate --measure phrenology",
        "evaluate --measure ,",
        "evaluate --measure intersections --release {in}/mini",
        "evaluate --measure likelihood_bias --release {in}/intersections",
        "evaluate --measure pseudo_likelihood_bias --release {in}/mini --model embedded",
        "evaluate --measure likelihood_bias,pseudo_likelihood_bias --release {in}/mini --model embedded",
        "evaluate --measure likelihood_bias --test-set x.csv",
        "evaluate --measure medians --retain {in}/lines.txt",
        f"evaluate --measure retention {MODEL}",
        f"evaluate --measure dialogue_state {MODEL}",
        "evaluate --measure stereotype_score",
        "evaluate --measure intersections --small",
        "evaluate --release {in}/mini --small",
        "evaluate --mode published",
        "measures nope",
    ),
    "models": (
        "evaluate --release {in}/mini --model ./none",
        "evaluate --release {in}/mini --model a/b/c",
        "evaluate --release {in}/mini --model ''",
    ),
    "settings": (
        "evaluate --measure likelihood_bias --where nonsense",
        "evaluate --measure likelihood_bias --classifier nonsense",
        "evaluate --measure generation_bias --classifier nonsense --release {in}/mini",
        "evaluate --measure generation_bias --personas missing.txt --release {in}/mini",
        "evaluate --measure sentiment --where nonsense",
        "evaluate --measure toxicity --classifier nonsense",
        "evaluate --measure sentiment --faulty-prompts drop",
        "evaluate --measure sentiment --faulty-prompts drop --prompts {in}/people.csv",
        "evaluate --release {in}/mini --context Hi! --context-file {in}/contexts.txt",
        "evaluate --release {in}/mini --context Hi! --context-seed 1",
        "evaluate --release {in}/mini --context-file {in}/blank.txt",
        "evaluate --release {in}/mini --context-file {in}/latin.txt",
        "evaluate --release {in}/mini --context-file {in}/none.txt",
        "evaluate --retain {in}/blank.txt",
        "evaluate --retain {in}/latin.txt",
        "evaluate --retain {in}/none.txt",
        f"{EVALUATE_RESPONSES} --responses none.csv",
        f"{EVALUATE_RESPONSES} --clusters none.yaml",
        f"{EVALUATE_RESPONSES} --corpus none.txt",
        f"{EVALUATE_RESPONSES} --corpus {{in}}/latin.txt",
        f"{EVALUATE_RESPONSES} --phrases none.yaml",
        f"{EVALUATE_RESPONSES} --chat user",
        f"{EVALUATE_RESPONSES} --dry-run",
        f"{EVALUATE_RESPONSES} --kind masked",
    ),
    "tables": (
        "measure sentiment",
        "measure sentiment {in}/texts.csv --texts {in}/texts.csv",
        "measure medians --scores {in}/texts.csv",
        "measure toxicity {in}/texts.csv --classifier vader",
        "measure regard {in}/texts.csv --classifier toxicity",
        "measure norms {in}/texts.csv",
        "measure norms {in}/texts.csv --norms {in}/texts.csv",
        "measure gender_polarity {in}/texts.csv --polarity none",
        "measure sentiment {in}/texts.csv --positive 0",
        "measure generation_bias {in}/styles.csv --clusters {in}/none.yaml",
        "measure generation_bias {in}/styles.csv --clusters {in}/unknown-style.yaml",
        "measure generation_bias {in}/styles.csv --clusters {in}/twice.yaml",
        "measure generation_bias {in}/styles.csv --clusters {in}/unfinished.yaml",
        "measure response_wording {in}/styles.csv --phrases {in}/none.yaml",
        "measure offensiveness {in}/offences.csv --corpus {in}/lines.txt",
        "measure likelihood_bias {in}/perplexities.csv --corpus {in}/latin.txt",
        "measure retention {in}/no-tokens.csv",
    ),
    "pairs": (
        "evaluate --pairs missing.parquet",
        "evaluate --pairs {in}/mini",
        *(f"evaluate --pairs {{in}}/pairs-{fault}.csv {MODEL}" for fault in ("other", "specification", "side")),
        *(f"evaluate --pairs {{in}}/pairs-{fault}.csv {MODEL}" for fault in ("no-side", "no-other", "twice", "empty")),
        f"evaluate --pairs {{in}}/pairs-plain.csv --mode published {MODEL}",
        "evaluate --pairs {in}/pairs-plain.csv --mode choice --model embedded-writer",
        f"evaluate --pairs {{in}}/pairs-plain.csv --mode choice --engine api {MODEL}",
        "evaluate --pairs {in}/pairs.csv --mode published --first-token none --model embedded-writer",
        "evaluate --pairs {in}/pairs.csv --mode choice --first-token none --model embedded-writer",
    ),
    "options": (
        "measure norms {in}/texts.csv --classifier vader",
        "measure sentiment {in}/texts.csv --no-store",
        "measure sentiment {in}/texts.csv --corpus {in}/lines.txt",
        "measure medians {in}/perplexities.csv --device cpu",
        "measure toxicity {in}/texts.csv --classifier-api-base http://a",
        "measure likelihood_bias {in}/perplexities.csv --seed 1 --no-trust",
        "generate --prompts {in}/lines.txt --personas {in}/lines.txt",
        "generate --prompts {in}/lines.txt --no-variants",
        "generate --api-base http://a",
        "generate --replicas 2",
        "generate --engine api --batch 2",
        "generate --store s --no-store",
        "mitigate lmd --alpha 1",
        "mitigate ctda --weight 1",
        "mitigate self_chat --corpus {in}/lines.txt",
        "mitigate lmd --max-perplexity-rise 1",
        "mitigate lmd --epochs 1 --steps 1",
        "mitigate lmd --release 1.0.0",
        "mitigate lmd --no-measure --measure medians",
        "mitigate self_chat --threshold 1 --quantile 0.5",
        "mitigate self_chat --no-measure --responses {in}/responses.csv --system s",
        "classify --responses {in}/responses.csv --classifier vader --out judged.csv --device cpu",
        "classify --responses {in}/responses.csv --classifier vader --out judged.csv --classifier-api-base u",
        "evaluate --set colour=red",
        "evaluate --set norms",
        "evaluate --measure retention --model embedded --retain {in}/lines.txt --retain multiwoz:{in}",
    ),
    "generation": (
        "generate --release {in}/mini --decoding quick",
        "generate --release {in}/mini --where axis=horoscope",
        "generate --release {in}/mini --model embedded-writer --chat on",
        "generate --release {in}/mini --personas none.txt",
        "generate --release {in}/mini --engine api",
        "generate --release {in}/mini --prompts {in}/lines.txt",
    ),
    "mitigation": (
        "mitigate nothing --no-measure",
        "mitigate lmd --groups blicket --no-measure",
        "mitigate lmd --groups blicket,wug --no-measure",
        "mitigate lmd --hold-out wug --no-measure",
        "mitigate lmd --hold-out blicket --hold-out stad --hold-out mell --no-measure",
        "mitigate lmd --model http://localhost:8000/v1",
        "mitigate lmd --specification calibration --no-measure",
        "mitigate lmd --grid nothing --no-measure",
        "mitigate lmd --measure likelihood_bias --no-measure",
        "mitigate lmd --retain {in}/blank.txt",
        "mitigate lmd --retain multiwoz:nothing",
    ),
    "sentences": tuple(
        f"stereotypes sentences --specification {specification} --generator embedded-writer {options}"
        for specification, options in (
            ("calibration", "--rules negations"),
            ("calibration", "--shots none.yaml"),
            ("calibration", "--nearest 2 --vectors none.txt"),
            ("calibration", "--decoding quick"),
            ("none.yaml", ""),
            ("calibration", "--least-words 9 --most-words 8"),
            ("calibration", "--import sentences.csv"),
        )
    ),
    "test-sets": (
        "evaluate --test-set no.csv",
        "evaluate --test-set {in}/mini",
        *(
            f"evaluate --test-set {{in}}/set-{fault}.csv --model none/such"
            for fault in ("alone", "twice", "empty", "text")
        ),
    ),
}
"""Mistakes in a command line or in what it names: the one line of each is recorded."""
