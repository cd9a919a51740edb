"""Answer prompts with a model behind an OpenAI-compatible server."""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from holisticbias.compile.random_words import random_number
from holisticbias.errors import in_one_line
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.generation.conversation import ConversationForm, ConversationOptions, text_form
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.frame import PROMPT, Frame, check_control
from holisticbias_eval.models.generation.requests import (
    Generator,
    PromptRequests,
    Responses,
    SamenessRecord,
    SampledRecord,
)
from holisticbias_eval.models.model import server_identity
from holisticbias_eval.models.server.http import RequestError, WithheldError, named_settings, request_threads
from holisticbias_eval.models.server.openai import (
    WITHHELD,
    Answer,
    Completion,
    Endpoint,
    OpenAI,
    read_answer,
    user_turn,
)
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress

_LIMITS = {"chat": ("max_completion_tokens", "max_tokens"), "completions": ("max_tokens",)}
_FORMAT = "response_format"
_PENALTIES = {"repetition_penalty": 1.0, "repeat_penalty": 1.0}
"""Two names of one setting: vLLM's and llama.cpp's. A server that does not know one of them ignores or refuses it."""
_NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, **_PENALTIES, "seed": None}
"""Values without effect: a server that refuses one is asked without it. The seed, null here, is each request's own."""
_STEPS = (("top_k", "min_p", *_PENALTIES), ("temperature", "top_p"), ("seed",), (_FORMAT,))
"""What a server that refuses a request without naming a setting is asked without, one after another."""
_TRIAL = "Count from 1 to 100, in words."
_TRIED = 4


class ApiGenerator(Generator):
    """Asks a server for one response per request, with a seed that depends on the request alone.

    Whether a server gives the same response to the same seed is up to the server: ``probe`` tries it. Servers have
    defaults for the settings that a request leaves out, and they are not always neutral: a temperature of 0.8, a
    repetition penalty of the model's files. So neutral values are sent too, and left out for a server that refuses
    them; a notice and the signature say which.
    """

    hold = 1.0  # seconds: responses that arrive in this time make one batch, so that a store has few files

    def __init__(
        self, name: str, base: str, notice: Notice, decoding: Decoding, seed: int,
        conversation: ConversationOptions, settings: ModelSettings, response_format: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._endpoint, self._longest = settings.api_endpoint, decoding.max_new_tokens
        self._draws = decoding.method == "sample"
        sends: dict[str, Any] = {**_sampling(decoding), "seed": None}
        sends |= {} if response_format is None else {_FORMAT: response_format}
        neutral = {key for key, value in sends.items() if key == _FORMAT or value == _NEUTRAL.get(key)}
        self._client = OpenAI(name, base, settings, sends, _LIMITS[self._endpoint])
        self._client.optional = frozenset({*neutral, *_LIMITS["chat"]})
        style = conversation.style
        self._system = style.system if conversation.system is None and style else conversation.system
        control = check_control(conversation.control or "", "--control")
        form = _conversation(conversation, self._endpoint)
        self._form = replace(form, frame=form.frame.with_control(control))
        self._threads, self._seed, self._notice = settings.api_concurrency, seed, notice
        self._fingerprints: list[str] = []
        self._find_settings()
        left_out = self._left_out()
        if left_out:
            notice(f"{base} does not take {left_out}: its own defaults apply")
        depends = {"generator": "api", **decoding.settings, "seed": str(seed), **self._about(left_out, control)}
        identity = server_identity(name, self._client.server.base)
        super().__init__(identity, "causal", depends, keeps_blank=form.keeps_blank)

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests, several at once; see ``Generator.generate``.

        If a request fails, those under way are finished and yielded before the error is raised.
        """
        rows, running = iter(range(len(requests))), dict[Future[Answer], int]()
        ready: dict[int, Answer] = {}
        failed: BaseException | None = None
        yielded = time.monotonic()
        with request_threads(self._threads) as threads:
            while True:
                room = 0 if failed else 2 * self._threads - len(running)
                running |= {threads.submit(self._ask, requests, row): row for row in islice(rows, room)}
                if not running:
                    break
                left = max(0.0, yielded + self.hold - time.monotonic())
                done = wait(running, left if ready else None, FIRST_COMPLETED).done
                for job in sorted(done, key=running.__getitem__):
                    row, error = running.pop(job), job.exception()
                    failed = failed or error
                    if error is None:
                        ready[row] = job.result()
                if failed:
                    running = {job: row for job, row in running.items() if not job.cancel()}
                if ready and time.monotonic() >= yielded + self.hold:
                    yield self._batch(ready, progress)
                    ready, yielded = {}, time.monotonic()
            if ready:
                yield self._batch(ready, progress)
            if failed:
                raise failed

    def probe(self, requests: PromptRequests) -> SamenessRecord:
        """Answer a few requests one by one, again all at once, and with another seed until a response differs."""
        few = range(min(_TRIED, len(requests)))
        alone = [self._ask(requests, row).text for row in few]
        with request_threads(len(few) or 1) as threads:
            together = [answer.text for answer in threads.map(lambda row: self._ask(requests, row), few)]
        same = sum(one == other for one, other in zip(alone, together, strict=True))
        written = [row for row in few if alone[row]] if self._draws else []
        if not written:
            return SamenessRecord(tried=len(few), same=same)
        varies = any(self._ask(requests, row, another=1).text != alone[row] for row in written)
        if not varies:
            self._notice(
                f"{self._client.server.base} gives the same responses with another seed: it may not sample, but write "
                "the likeliest tokens (transformers serve does unless generation_config.json says do_sample: true)"
            )
        return SampledRecord(tried=len(few), same=same, varies=varies)

    def _ask(self, requests: PromptRequests, row: int, another: int = 0) -> Answer:
        """Ask for one response; raises ``ModelError`` if the server does not give a usable answer.

        ``another`` is added to the seed of the run.
        """
        prompt, persona = requests.prompt[row], requests.persona[row]
        seed = request_seed(self._seed + another, prompt, persona, int(requests.sample[row]))
        return self._answer("".join(self._form.frame.pieces(persona, prompt)), seed)

    def _batch(self, answers: Mapping[int, Answer], progress: Progress) -> tuple[Ints, Responses]:
        progress(len(answers))
        texts, ends, tokens, reasoning, fingerprints = zip(*answers.values(), strict=True)
        for fingerprint in fingerprints:
            self._watch(fingerprint)
        return np.array(list(answers), np.int64), Responses(texts, ends, np.array(tokens, np.int32), reasoning)

    def _watch(self, fingerprint: str | None) -> None:
        """Say so if the server names a configuration that it has not named before."""
        if fingerprint is None or fingerprint in self._fingerprints:
            return
        if self._fingerprints:
            changed = f"from {in_one_line(self._fingerprints[-1])} to {in_one_line(fingerprint)}"
            self._notice(f"the server's configuration has changed {changed}: responses before and after may differ")
        self._fingerprints.append(fingerprint)

    def _left_out(self) -> str:
        """The settings that the server does not take, with their values; empty if there are none.

        A setting with two names is listed by the first one, and only if the server takes neither.
        """
        known = _PENALTIES if _PENALTIES.keys() & self._client.sends.keys() else list(_PENALTIES)[1:]
        left_out = {n: value for n, value in self._client.left_out.items() if n in _NEUTRAL and n not in known}
        return ", ".join(name if value is None else f"{name} {value}" for name, value in left_out.items())

    def _about(self, left_out: str, control: str) -> Mapping[str, str]:
        """Everything that responses depend on besides decoding and seed, for a run's signature."""
        frame = self._form.frame
        sent = {name: "json_schema" if name == _FORMAT else value for name, value in self._client.sends.items()}
        seed = ["seed"] if "seed" in sent else []
        return {
            "server": self._client.server.base,
            "endpoint": self._endpoint,
            "conversation": self._form.named,
            "conversation_text": json.dumps(self._content(frame.with_persona), ensure_ascii=False),
            "conversation_text_without_persona": json.dumps(self._content(frame.without_persona), ensure_ascii=False),
            "sent": ", ".join([*(f"{name} {value}" for name, value in sorted(sent.items()) if name != "seed"), *seed]),
            **({"not_sent": left_out} if left_out else {}),
            **({"control": control} if control else {}),
        }

    def _find_settings(self) -> None:
        """Ask until the server takes a request, each time without what it has refused.

        A refusal that names settings, of which some are neutral or the seed, is answered by a request without these.
        After a refusal without such a name, the other name of the limit is tried, then a request without the next of
        ``_STEPS``. Raises the last refusal; a refusal that names a setting which the decoding needs ends the search.
        """
        client, refusal = self._client, None
        limits = list(client.limits)
        for step in ((), *_STEPS):
            if step and not client.leave_out(name for name in step if name in client.optional & client.sends.keys()):
                continue
            for place in range(len(limits)):
                client.limits = limits[place:]
                try:
                    self._answer(_TRIAL, 1)
                except RequestError as error:
                    refusal = error
                    self._refuse_needed(error)
                else:
                    client.optional = frozenset()
                    return
        raise refusal or client.server.refused("it takes no request")

    def _refuse_needed(self, refusal: RequestError) -> None:
        """Raise ``EvaluationError`` if a refusal names settings, which the decoding then needs."""
        named = named_settings(refusal.content, [*self._client.sends, *self._client.limits[:-1][:1]])
        if named:
            raise EvaluationError(
                f"{refusal}; if it does not take {' and '.join(named)}, choose a --decoding without "
                f"{'it' if len(named) == 1 else 'them'}, as sampled"
            ) from refusal

    def _content(self, text: str) -> Mapping[str, Any]:
        """The part of a request that says what to answer."""
        if self._endpoint == "completions":
            return {"prompt": text, **({"stop": list(self._form.stops)} if self._form.stops else {})}
        return user_turn(text, self._system)

    def _answer(self, text: str, seed: int) -> Answer:
        """Ask, and ask again if the answer is longer than the maximum: a server ignores names that it does not know."""
        while True:
            limit = self._client.limits[0]
            try:
                completion = self._client.ask(
                    Completion, self._content(text), self._longest, seed, endpoint=self._endpoint
                )
            except WithheldError:
                return WITHHELD
            answer = read_answer(completion, self._form.stops, keeps_blank=self._form.keeps_blank)
            if (answer.tokens or len(answer.text.split())) <= self._longest + 1:  # some servers count the end
                return answer
            if limit == self._client.limits[-1]:
                raise self._client.server.refused(f"it writes more than {self._longest} tokens (it ignores {limit})")
            self._client.leave_out([limit])


def _sampling(decoding: Decoding) -> Mapping[str, float]:
    """The settings of a decoding, with neutral values of others that many servers have.

    Raises ``EvaluationError`` if the decoding has settings that servers lack.
    """
    needs = {
        "beam search": decoding.method == "beam",
        "min_new_tokens": decoding.min_new_tokens > 0,
        "blocked_ngram": decoding.blocked_ngram is not None,
    }
    lacking = [name for name, needed in needs.items() if needed]
    if lacking:
        raise EvaluationError(
            f"servers have no {', '.join(lacking)}, which the decoding {decoding.id!r} needs: "
            "choose another --decoding, as sampled, or a local model"
        )
    if decoding.method == "greedy":
        return {"temperature": 0.0, **_PENALTIES}
    chosen = {"temperature": decoding.temperature, "top_p": 1.0 if decoding.top_p is None else decoding.top_p}
    return {**chosen, "top_k": decoding.top_k or 0, "min_p": 0.0, **_PENALTIES}


def _conversation(options: ConversationOptions, endpoint: Endpoint) -> ConversationForm:
    if endpoint == "completions":
        if options.chat == "on":
            raise ModelError("--chat on is for the endpoint chat: leave it out, or use --api-endpoint chat")
        return text_form(options)
    if options.chat == "off" or options.separator is not None or options.continuation is not None:
        raise ModelError("--chat off, --separator and --continuation need --api-endpoint completions")
    turn = options.style.turn if options.style else PROMPT
    before, _, after = turn.partition(PROMPT)
    named = "the server's chat template" + ("" if turn == PROMPT else ", a turn around the prompt")
    return ConversationForm(named, Frame(before, "\n", before, after, "\n"))


def request_seed(seed: int, prompt: str, persona: str, sample: int) -> int:
    """A number below 2**31, which every server takes, that depends on the run's seed and the request alone."""
    return random_number(json.dumps([seed, prompt, persona, sample]), 4) >> 1
