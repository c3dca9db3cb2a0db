# Two commands for people: `make audit` and `make test`. The first builds an environment in .venv that
# holds the core alone, the second adds all that the tests need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= audit-report

.PHONY: core env audit test smoke golden golden-record check format licences clean

core: $(VENV)/core
env: $(VENV)/installed

define install
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'whatleaks needs Python 3.11 or later: call make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
endef

$(VENV)/core: pyproject.toml
	$(install) .
	touch $@

$(VENV)/installed: pyproject.toml
	$(install) ".[dev]"
	touch $(VENV)/core $@

audit: core
	$(BIN)/whatleaks audit breast-cancer --out $(OUT)

test: env
	$(MAKE) check
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The wheel in empty environments: other Pythons of this machine, and the lowest versions allowed.
smoke: env
	$(BIN)/python tools/smoke.py

# Figures, words and verdicts against those of tests/golden; CASES=linear,help takes some of them.
golden: env
	$(BIN)/python tests/golden/golden.py "$(CASES)"

golden-record: env
	$(BIN)/python tests/golden/golden.py "$(CASES)" --record "$(WHY)"

check: env
	$(BIN)/ruff check src tests examples benchmarks tools
	$(BIN)/ruff format --check src tests examples benchmarks tools
	$(BIN)/mypy

licences: env
	$(BIN)/python tools/licences.py

format: env
	$(BIN)/ruff check --fix src tests examples benchmarks tools
	$(BIN)/ruff format src tests examples benchmarks tools

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache $(OUT)
