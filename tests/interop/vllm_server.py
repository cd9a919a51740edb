"""Score and answer with ``vllm serve``: python -m tests.interop.vllm_server.

vLLM is that of ``build/vllm`` (docs/generation.md), else of the path. Scores and likeliest continuations must be those
of the same model here. Without vLLM nothing is checked, and a line says so.
"""

import shutil
from pathlib import Path

from tests.interop.server import COMPLETED, check_responses, check_scores, serving

from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.loading.load import load_model

OPTIONS = ("--served-model-name", "embedded", "--dtype", "float32", "--enforce-eager", "--port", "PORT")


def main() -> None:
    """Compare scores and responses."""
    vllm = shutil.which(Path("build/vllm/bin/vllm").absolute()) or shutil.which("vllm")
    if vllm is None:
        print("vLLM: skipped, neither build/vllm nor the path has it (docs/generation.md)")
        return
    model = load_model(str(SHIPPED[EMBEDDED_MODEL].folder), "AutoModelForCausalLM")
    with serving(vllm, "serve", str(SHIPPED[EMBEDDED_MODEL].folder), *OPTIONS) as address:
        check_scores("vLLM", address, model)
        check_responses("vLLM", address, model, COMPLETED)


if __name__ == "__main__":
    main()
