# Each target sets up .venv first, from nothing but Python 3.11+ and make; the stamp makes the next call instant.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo quick test chaos check format bench conformance wheel clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Brookmere needs Python 3.11 to 3.13; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,java]'
	touch $@

demo: $(STAMP)
	$(BIN)/brookmere demo $(ARGS)

# No Spark, no broker, no browser: the tests to run all day, in under two minutes.
QUICK := config dsl topology plan serde registry state topics worker
quick: $(STAMP)
	$(BIN)/python -m pytest --no-java -m "not slow" $(QUICK:%=tests/%) tests/test_*.py $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

# Kills 100 processes at random; make test kills one at each point in the life of a batch.
chaos: $(STAMP)
	BROOKMERE_KILLS=$${BROOKMERE_KILLS:-100} $(BIN)/python -m pytest tests/chaos $(ARGS)

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# Everything, in every way; make test runs a part of it.
CONFORM := $(BIN)/python -m tests.conformance tests/conformance/scenarios
conformance: $(STAMP)
	$(CONFORM) --cut whole $(ARGS)
	$(CONFORM) --cut random:1 $(ARGS)
	$(CONFORM) --cut random:2 --python --restarts $(ARGS)
	$(CONFORM) --engine spark $(ARGS)
	$(CONFORM) --ask $(ARGS)

wheel: $(STAMP)
	jar=$$($(BIN)/python -m brookmere.kernel.build) && \
	kafka=$$($(BIN)/python -c 'from brookmere.jars import resolve; from brookmere.kernel.build import kafka_jar; print(kafka_jar(resolve("kafka-clients")))') && \
	BROOKMERE_KERNEL_JAR=$$jar BROOKMERE_KAFKA_JAR=$$kafka $(BIN)/python -m build --wheel --no-isolation --outdir dist

clean:
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
