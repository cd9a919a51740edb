"""The training loop on tiny models: same seed, interruption, early stopping, adapters, numbers and full disks."""

import errno
import io
import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from rich.console import Console

from holisticbias_eval.errors import BrokenTrainingError, MitigationError
from holisticbias_eval.mitigation import loop, training
from holisticbias_eval.mitigation.encoding import Collator, EncodedText
from holisticbias_eval.mitigation.method import COMPARED, AuxiliaryLoss, TokenBatch
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.record import ValidationRecord
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.mitigation.training import Lesson, Trained, train
from holisticbias_eval.progress import Display
from tiny_models import TEXTS, tiny_loaded

LEARNED = pa.table({"text": [f"{text} {word}" for text in TEXTS[:4] for word in ("a", "bit", "more")]})
VALIDATED = pa.table({"text": list(TEXTS[4:])})
QUICK = TrainingSettings(steps=7, batch=3, learning_rate=1e-3, evaluations=4, patience=None)


def run(
    folder: Path, settings: TrainingSettings = QUICK, auxiliary: AuxiliaryLoss | None = None, **given: Any
) -> Trained:
    display = Display(given.pop("console", Console(file=io.StringIO())))
    loaded = given.pop("loaded", None) or tiny_loaded("gpt2")
    lesson = Lesson(
        METHODS["lmd"], "test", **{"texts": LEARNED, "validation": VALIDATED, **given}, auxiliary=lambda: auxiliary
    )
    return train(loaded, lesson, settings, folder, display)


def weights(trained: Trained) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in trained.model.named_parameters()}


def kept(trained: Trained) -> ValidationRecord:
    """The validation of the state that was kept."""
    return next(found for found in trained.point.validations if found.step == trained.point.kept)


def same(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


class Norm(AuxiliaryLoss):
    """The mean square of the logits at tokens whose characters spell ``wanted``; or not a number."""

    def __init__(self, wanted: str = "I", broken_after: int | None = None) -> None:
        self.wanted, self.left = wanted, broken_after
        self.seen: list[str] = []

    def prepare(self, batch: TokenBatch) -> Mapping[str, torch.Tensor]:
        found = []
        for i, text in enumerate(batch.texts):
            for j, (start, stop) in enumerate(batch.offsets[i].tolist()):
                if text[start:stop].strip() == self.wanted:
                    self.seen.append(text[start:stop])
                    found.append((i, j))
        return {"places": torch.tensor(found, dtype=torch.long).reshape(-1, 2)}

    def loss(self, model: Any, logits: torch.Tensor, prepared: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if self.left is not None and logits.requires_grad:
            self.left -= 1
            if self.left < 0:
                return logits.sum() * float("nan")
        places = prepared["places"]
        if not len(places):
            return logits[:0].sum()
        return logits[places[:, 0], places[:, 1]].square().mean()


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Path]:
    """A quick training, and the folder of its checkpoints."""
    folder = tmp_path_factory.mktemp("quick")
    return run(folder), folder


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(
    quick: tuple[Trained, Path], tmp_path: Path
) -> None:
    """A finished training is not made again."""
    one = weights(quick[0])
    assert same(one, weights(run(tmp_path / "other")))
    assert not same(one, weights(run(tmp_path / "seed", QUICK.model_copy(update={"seed": 1}))))
    again = run(quick[1])
    assert again.point == quick[0].point
    assert same(one, weights(again))


def test_the_random_states_of_the_process_are_restored(tmp_path: Path) -> None:
    def states() -> list[object]:
        return [random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()]

    loaded = tiny_loaded("gpt2")
    before = states()
    run(tmp_path, loaded=loaded)
    assert states() == before


def test_validations_are_spread_evenly_and_include_the_model_before_and_the_last_step(
    quick: tuple[Trained, Path],
) -> None:
    trained, _ = quick
    assert [one.step for one in trained.point.validations] == [0, 2, 4, 6, 7]
    assert (trained.point.kept, trained.point.steps, trained.point.planned) == (7, 7, 7)
    assert kept(trained).perplexity < trained.point.validations[0].perplexity
    assert not trained.model.training
    assert trained.point.counts == {}


def test_a_checkpoint_that_was_changed_or_is_not_whole_is_not_read(quick: tuple[Trained, Path], tmp_path: Path) -> None:
    (checkpoint,) = quick[1].glob("checkpoint-*")
    changed, cut = (shutil.copytree(checkpoint, tmp_path / f"checkpoint-{number}") for number in (8, 9))
    (cut / "digests.json").unlink()
    with (changed / "optimizer.pt").open("ab") as file:
        file.write(b"x")
    assert training.newest_checkpoint(tmp_path) is None
    assert not list(tmp_path.glob("checkpoint-*"))


def test_training_stops_early_and_keeps_the_state_of_the_smallest_validation_perplexity(tmp_path: Path) -> None:
    settings = TrainingSettings(steps=40, batch=4, learning_rate=3e-2, evaluations=20, patience=2)
    loaded = tiny_loaded("gpt2")
    trained = run(tmp_path / "first", settings, loaded=loaded)
    found = {one.step: one.perplexity for one in trained.point.validations if one.step}
    best = min(found, key=lambda step: found[step])
    assert (trained.point.kept, trained.point.steps) == (best, best + 2 * 2)
    assert best + 2 * 2 < 40
    assert run(tmp_path / "first", settings).point == trained.point
    (before, *_) = run(tmp_path / "second", loaded=loaded).point.validations
    assert before.perplexity == pytest.approx(found[best], rel=1e-6)


class Counting(Norm):
    @property
    def counts(self) -> Mapping[str, int]:
        return {COMPARED: len(self.seen), "strange": 3}


def test_the_whole_loss_can_be_the_criterion(tmp_path: Path) -> None:
    """The method's loss sees the characters of tokens, becomes smaller, and counts each text once."""
    auxiliary, said = Counting(), io.StringIO()
    settings = QUICK.model_copy(update={"criterion": "loss", "patience": 3, "weight": 5.0, "lm_weight": 0.1})
    trained = run(tmp_path, settings, auxiliary, console=Console(file=said, width=200))
    assert {text.strip() for text in auxiliary.seen} == {"I"}
    assert kept(trained).auxiliary < 0.9 * trained.point.validations[0].auxiliary
    assert trained.point.counts == {COMPARED: 12, "strange": 3}
    assert "The method's loss compares 12 mentions; left out: strange (3)" in said.getvalue()
    for one in trained.point.validations:
        expected = 0.1 * torch.log(torch.tensor(one.perplexity, dtype=torch.float64)) + 5.0 * one.auxiliary
        assert one.loss == pytest.approx(float(expected), rel=1e-6)
    assert kept(trained).loss == min(one.loss for one in trained.point.validations if one.step)


def test_adapters_are_merged_and_only_linear_layers_change(tmp_path: Path) -> None:
    before = dict(tiny_loaded("gpt2").model.named_parameters())
    trained = run(tmp_path, QUICK.model_copy(update={"lora_rank": 2}))
    assert type(trained.model).__name__ == "GPT2LMHeadModel"
    changed = {name for name, value in weights(trained).items() if not torch.equal(value, before[name])}
    assert changed
    assert all(name.endswith("weight") and (".attn." in name or ".mlp." in name) for name in changed)
    trained.model.save_pretrained(tmp_path / "saved")
    assert not list((tmp_path / "saved").glob("adapter*"))
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["use_cache"] is True


class OfNothing(Norm):
    def loss(self, model: Any, logits: torch.Tensor, prepared: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return model.get_input_embeddings().weight.square().mean()  # type: ignore[no-any-return]


def test_a_loss_of_weights_that_adapters_keep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        MitigationError, match=r"does not depend on the weights that are trained: leave --lora-rank out"
    ):
        run(tmp_path, QUICK.model_copy(update={"lora_rank": 2}), OfNothing())


def test_a_loss_that_is_not_a_number_stops_the_training_and_the_last_good_state_is_kept(tmp_path: Path) -> None:
    with pytest.raises(BrokenTrainingError) as caught:
        run(tmp_path, QUICK.model_copy(update={"weight": 3.0}), Norm(broken_after=5))
    expected = (
        "the loss is not a finite number at step 6: lower the learning rate (0.001) or the weight (3); "
        f"the last good state is kept in {tmp_path / 'checkpoint-4'}"
    )
    assert str(caught.value) == expected
    assert training.newest_checkpoint(tmp_path) == tmp_path / "checkpoint-4"


def test_a_validation_that_is_not_a_number_stops_the_training(tmp_path: Path) -> None:
    broken = QUICK.model_copy(update={"learning_rate": 1e25, "evaluations": QUICK.steps})
    with pytest.raises(BrokenTrainingError, match=r"^the validation loss is not a finite number at step 1: lower"):
        run(tmp_path, broken)


FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed"),
    RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 194560 vs 194448"),
    ValueError("Error while serializing: I/O error: No space left on device (os error 28)"),
]


def test_a_full_disk_leaves_the_earlier_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever torch and safetensors raise is an error of the system; another error stays what it is."""
    save, left = torch.save, 4  # scheduler, optimizer, numbers and arguments of the first checkpoint

    def full(content: Any, path: Any, *rest: Any, **more: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise FULL[1]
        save(content, path, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(OSError, match="No space left on device"):
            run(tmp_path / "run")
    assert training.newest_checkpoint(tmp_path / "run") == tmp_path / "run" / "checkpoint-2"
    for failing in (*FULL, ValueError("other")):
        expected = ValueError if "other" in str(failing) else OSError
        (tmp_path / "new").mkdir(exist_ok=True)
        with pytest.raises(expected), training.full_disk_is_an_os_error(tmp_path / "new"):
            raise failing
        assert (tmp_path / "new").exists() == (expected is ValueError)


def test_running_out_of_memory_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> torch.Tensor:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp] . DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(loop, "read", full)
    with pytest.raises(MitigationError, match=r"out of memory: use a smaller --batch with more --accumulation"):
        run(tmp_path)


def test_tokens_that_fill_a_batch_have_no_influence(quick: tuple[Trained, Path], tmp_path: Path) -> None:
    loaded = tiny_loaded("gpt2")
    loaded.tokenizer.pad_token = None
    assert same(weights(quick[0]), weights(run(tmp_path, loaded=loaded)))
    for token in ("eos_token", "bos_token"):
        setattr(loaded.tokenizer, token, None)
    texts = [EncodedText("a", [5] * length, [(0, 1)] * length, [5] * length) for length in (1, 3)]
    assert Collator(loaded.tokenizer)(texts)["input_ids"].tolist() == [[5, 0, 0], [5, 5, 5]]


def test_what_cannot_be_trained_is_one_line(tmp_path: Path) -> None:
    for part, purpose in (("texts", "train"), ("validation", "validate")):
        with pytest.raises(MitigationError, match=f"there is no text to {purpose} on"):
            run(tmp_path, **{part: LEARNED.slice(0, 0)})


def test_a_loss_with_nothing_to_compare_is_one_line_unless_it_has_no_weight(tmp_path: Path) -> None:
    with pytest.raises(MitigationError, match=r"^the method's loss has nothing to compare in the 12 texts: strange"):
        run(tmp_path, QUICK, Counting("blick"))
    assert run(tmp_path, QUICK.model_copy(update={"weight": 0.0}), Counting("blick")).point.counts == {}


def test_texts_that_are_cut_or_have_nothing_to_learn_are_counted(tmp_path: Path) -> None:
    said = io.StringIO()
    texts = pa.table({"text": ["blicket " * 200, "", "I'm a dax."], "context": [None, "Hi!", "Hi! "]})
    trained = run(tmp_path, texts=texts, console=Console(file=said))
    assert trained.point.cut == 1
    assert "1 texts are longer than the model reads and are cut" in said.getvalue()
    assert "1 texts have no token to learn and are left out" in said.getvalue()


def test_a_warmup_that_is_not_over_is_noticed(tmp_path: Path) -> None:
    for warmup, said in ((6, False), (14, True)):
        settings, shown = QUICK.model_copy(update={"warmup": warmup}), io.StringIO()
        run(tmp_path / str(warmup), settings, console=Console(file=shown, width=200))
        notice = "rises for 14 steps, and the training has 7: it reaches 0.00043 of 0.001; set --warmup lower"
        assert (notice in shown.getvalue()) == said
