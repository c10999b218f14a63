# Two commands do everything on a machine with Python and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
BASE := $(VENV)/.base
READY := $(VENV)/.ready
PIP := $(RUN) -m pip install --disable-pip-version-check

.PHONY: demo test paper fuzz faults bench bench-large docs docs-open release clean

demo: $(BASE)
	$(RUN) -m srsg demo

# Linters, types, layers and the site first, because they are quick. Two processes of tests; the
# tests of a file stay together, because they share what is expensive to make. The longest files
# come first, see tests/conftest.py.
test: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-cache
	SRSG_DOCS_EXAMPLES=0 $(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/test
	$(RUN) -m tools.check_site docs/_build/test
	$(RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The paper's tables and figures, into docs/results. DATA or SRSG_DATA names the folder of its data;
# QUICK=1 takes a few small rows; TABLE, FIGURE, SEEDS, JOBS and OUTPUT are options of `python -m paper`.
paper: $(BASE)
	$(PIP) --quiet --editable ".[data,files,plot]"
	$(RUN) -m paper $(if $(DATA),--data "$(DATA)") $(if $(QUICK),--quick) \
		$(if $(TABLE),--table $(TABLE)) $(if $(FIGURE),--figure $(FIGURE)) \
		$(if $(SEEDS),--seeds $(SEEDS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(OUTPUT),--output "$(OUTPUT)")

# Random cases with bounds checks and a watchdog; CASES=1000 runs fewer small ones, LARGE=100 fewer
# large ones. Writes docs/results/reliability.md.
fuzz: $(READY)
	PYTHONPATH=tests $(RUN) -m fuzz --cases $(or $(CASES),100000) --large $(or $(LARGE),2000) --keep

# Kills, full disks, lost workers: writes docs/results/reliability.md.
faults: $(READY)
	PYTHONPATH=tests $(RUN) -m faults

# Large tables through the whole command, beside one K-means; deformed digits, points near subspaces
# and trees of large graphs. Hours and 8 GB in full; the scripts take --sizes.
bench-large: $(READY)
	$(RUN) -m benchmarks.tables
	$(RUN) -m benchmarks.tables --graphs
	$(RUN) -m benchmarks.many_points trees
	$(RUN) -m benchmarks.many_points subspaces
	$(RUN) -m benchmarks.many_points digits

bench: $(READY)
	$(PIP) --quiet --editable ".[bench]"
	$(RUN) -m benchmarks
	$(RUN) -m benchmarks.methods
	$(RUN) -m benchmarks.smce

# The site: every example is run, a warning is an error, and all links are checked.
docs: $(READY)
	$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(RUN) -m tools.check_site docs/_build/html

docs-open: docs
	@echo "http://127.0.0.1:8000, until you press Ctrl-C"
	$(RUN) -m http.server 8000 --bind 127.0.0.1 --directory docs/_build/html

# What is released, built twice and tried; DRAFT=1 rehearses it before the changelog has its date,
# PYTHONS="python3.12 python3.13" tries it on others.
release: $(READY)
	$(PIP) --quiet "build>=1.2"
	$(RUN) -m tools.release $(if $(DRAFT),--draft) $(if $(PYTHONS),--python $(PYTHONS))

clean:
	rm -rf $(VENV) demo dist docs/_build docs/gallery docs/reference/generated

# What the demo needs is the library and the command line: about 720 MB, so pip shows its progress.
$(BASE): pyproject.toml
	@echo "installing srsg and what it needs into $(VENV), once (about 720 MB) ..."
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[cli]"
	@touch $@

$(READY): $(BASE)
	@echo "installing what the tests need into $(VENV), once ..."
	$(PIP) --editable ".[test]"
	@touch $@
