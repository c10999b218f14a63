# Two commands do everything on a machine with Python and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test bench clean

demo: $(READY)
	$(RUN) -m srsg demo

test: $(READY)
	$(RUN) -m pytest

bench: $(READY)
	$(RUN) benchmarks/core.py
	$(RUN) benchmarks/methods.py
	$(RUN) benchmarks/smce.py

clean:
	rm -rf $(VENV) demo

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@
