# Two commands do everything on a machine with Python and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test fuzz faults bench docs docs-open release clean

demo: $(READY)
	$(RUN) -m srsg demo

test: $(READY)
	$(RUN) -m pytest

# Random cases with bounds checks and a watchdog; CASES=1000 runs fewer.
fuzz: $(READY)
	PYTHONPATH=tests $(RUN) -m fuzz --cases $(or $(CASES),100000)

# Kills, full disks, lost workers: writes docs/reliability.md.
faults: $(READY)
	PYTHONPATH=tests $(RUN) -m faults

bench: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
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

# What is released, built and tried; DRAFT=1 rehearses it before the changelog has its date.
release: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check "build>=1.2"
	$(RUN) -m tools.release $(if $(DRAFT),--draft)

clean:
	rm -rf $(VENV) demo dist docs/_build docs/gallery docs/reference/generated

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@
