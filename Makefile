# On a new computer, run `make demo` or `make test`; both install everything into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint docs pictures bench calibration oracle reproduce scale torture lower-bounds package clean

help:
	@echo "make demo         install into .venv and run studies/quickstart.toml (five learners, 13 data sets, class noise)"
	@echo "make test         run the test suite"
	@echo "make lint         run ruff, mypy --strict and import-linter"
	@echo "make docs         build the documentation into site/"
	@echo "make bench        compare the speed with scikit-learn, hmeasure, scipy and MLstatkit: benchmarks/*.md"
	@echo "make calibration  simulate type I errors and coverage of every test and interval: docs/calibration.md"
	@echo "make oracle       recompute the reference results of WEKA (needs Java)"
	@echo "make reproduce    repeat the experiments of five papers at a quick scale: reproduced/"
	@echo "make scale        count a file of 100 million rows within 2 GB"
	@echo "make lower-bounds run the test suite with the oldest versions of all dependencies that pyproject.toml allows"
	@echo "make package      build wheel and sdist into dist/, and try both in new environments"
	@echo "make torture      attack studies, learners and files with faults, and count the outcomes: docs/torture.md"

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "fairtrial needs Python 3.11 or newer with venv (Debian: python3-venv); try make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

demo: $(VENV)/.ready
	@mkdir -p demo
	$(BIN)/fairtrial run studies/quickstart.toml --store demo/quickstart.fairtrial
	$(BIN)/fairtrial report demo/quickstart.fairtrial --out demo/quickstart.html

# Some tests wait for processes, so three workers keep two cores busy.
test: $(VENV)/.ready
	$(BIN)/python -m pytest -n 3 --dist worksteal

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Build from scratch, because pages of renamed objects would remain. No network is needed.
docs: $(VENV)/.ready
	rm -rf site docs/_build docs/reference/api docs/gallery
	$(BIN)/sphinx-build -W --keep-going -b html -d docs/_build/doctrees docs site

pictures: $(VENV)/.ready
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_comparison_pictures.py
	$(BIN)/python docs/make_resampling_pictures.py
	$(BIN)/python docs/make_audit_pictures.py
	$(BIN)/python docs/make_condition_pictures.py
	$(BIN)/python docs/make_simulation_pictures.py
	$(BIN)/python docs/make_shift_pictures.py
	$(BIN)/python docs/make_tree_pictures.py
	$(BIN)/python docs/make_guide_pictures.py
	$(BIN)/python docs/make_report_pictures.py

$(VENV)/.bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/significance.py
	$(BIN)/python benchmarks/dob_scv.py
	$(BIN)/python -m benchmarks.c45 --write
	$(BIN)/python benchmarks/study.py
	$(BIN)/python benchmarks/judge.py

calibration: $(VENV)/.bench
	$(BIN)/python benchmarks/calibration.py

# Needs WEKA 3.6.14 (Debian: apt-get install weka). Set WEKA_JAR if the jar is in another folder.
oracle: $(VENV)/.ready
	@for name in c45 machines naive_bayes nearest_neighbours boosting one_r ripper tutorial; do \
		echo $$name; $(BIN)/python -m tests.reference.weka.make_$$name || exit 1; done
	$(BIN)/python -m tests.reference.tutorial_table

# FAIRTRIAL_DATA lists folders with the data sets of the papers; missing data sets are reported and skipped.
reproduce: $(VENV)/.ready
	$(BIN)/fairtrial reproduce all --scale quick

scale: $(VENV)/.ready
	$(BIN)/python benchmarks/scale.py

# About 30 minutes on 2 cores. As root, it also fills a small disk and makes folders read-only.
torture: $(VENV)/.ready
	$(BIN)/python -m benchmarks.torture

# uv installs the lowest version of each direct dependency. Only the package and its tests: linters and docs are pinned.
lower-bounds:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(CURDIR)/.venv-lowest .venv-lowest/bin/uv pip install --quiet --resolution lowest-direct --editable ".[test]"
	.venv-lowest/bin/python -m pytest -n 3 --dist worksteal

# Both files must work without the repository.
package: $(VENV)/.ready
	rm -rf dist .venv-package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --outdir dist
	for file in dist/*.whl dist/*.tar.gz; do \
		rm -rf .venv-package && $(PYTHON) -m venv .venv-package && \
		.venv-package/bin/python -m pip install --quiet --disable-pip-version-check $$file && \
		(cd $(CURDIR)/dist && ../.venv-package/bin/fairtrial --version && ../.venv-package/bin/fairtrial measures > /dev/null && \
		../.venv-package/bin/python -c "from fairtrial.reproduce import load_experiments; assert len(load_experiments()) == 7") || exit 1; \
	done
	rm -rf .venv-package

clean:
	rm -rf $(VENV) .venv-lowest .venv-package dist site docs/_build docs/reference/api docs/gallery demo reproduced
