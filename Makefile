# The commands a person types. `make demo` and `make test` set up what they need.
.PHONY: build setup model addons examples hostile demo test run bench load crash quality fmt lint third-party

TYMPAN = target/release/tympan
ADDON = target/release/tympan-addon
PLUGINS = $(sort $(dir $(wildcard plugins/*/Cargo.toml)))

# The server, the author's tool and the built-in add-ons. NATIVE=1 tunes whisper.cpp to this CPU.
build: setup binaries addons

setup:
	@scripts/setup.sh

.PHONY: binaries
# The build of whisper.cpp does not look at NATIVE again by itself.
binaries: setup
	@[ "$$(cat target/native 2>/dev/null)" = "$(NATIVE)" ] || \
		{ cargo clean --quiet --release -p whisper-rs-sys; mkdir -p target; echo "$(NATIVE)" > target/native; }
	@$(if $(NATIVE),GGML_NATIVE=ON,) cargo build --locked --release --workspace --bins

addons: binaries
	@$(ADDON) build $(PLUGINS) --out-dir target/addons

# Add-ons that only tests and the demo use.
examples: binaries
	@examples/addons/build.sh

hostile: binaries
	@tests/hostile/build.sh

# The default model, once per user; later runs only check it.
model: binaries
	@$(TYMPAN) models pull base

demo: build model
	@examples/addons/build.sh rust
	@python3 examples/demo.py

run: build model
	@$(TYMPAN) serve

test: build model examples hostile target/schemathesis/bin/schemathesis
	@python3 scripts/test.py

# Holds the API against its own description, with more requests than `make test` sends.
.PHONY: schemathesis
schemathesis: build model target/schemathesis/bin/schemathesis
	@TYMPAN_EXAMPLES=$(or $(EXAMPLES),200) cargo test --locked --release --workspace --test openapi -- schemathesis --nocapture

target/schemathesis/bin/schemathesis: Makefile | setup
	@python3 -m venv target/schemathesis
	@target/schemathesis/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5
	@touch $@

# The published client libraries against this service; needs npm and the registries.
.PHONY: clients
clients: build model
	@mkdir -p target/clients
	@npm install --silent --prefix target/clients @gladiaio/sdk@2.1.0
	@python3 -m venv target/clients/py && target/clients/py/bin/pip install -q gladiaio-sdk==2.2.1
	@python3 tests/clients/run.py

# The build that exports traces, and its tests; see docs/operators/traces.md. The usual build is
# in its place again afterwards.
.PHONY: otlp
otlp: build model
	@cargo build --locked --release --workspace --bins --features tympan/otlp
	@mkdir -p target/otlp && cp target/release/tympan target/otlp/tympan
	@cargo build --locked --release --workspace --bins
	@cargo clippy --locked --release --workspace --all-targets --all-features -- -D warnings
	@cargo test --locked --release --workspace --features tympan/otlp,tympan-tests/otlp --test otlp

# Figures for docs/benchmarks.md and docs/quality.md.
bench: build model examples
	@python3 scripts/bench.py
	@python3 scripts/bench_service.py

# What the service bears: about two minutes of many clients, on an otherwise idle machine.
load: build model
	@cargo bench --locked --quiet --workspace --bench load

# Fifty kills at random moments; `make test` has six. Its setting is explained in scripts/test.py.
crash: build model examples
	@GOMP_SPINCOUNT=1000 TYMPAN_KILLS=50 cargo test --locked --release --workspace --test kills -- --nocapture

quality: build model
	@python3 scripts/quality.py

fmt:
	@cargo fmt --all

lint: setup
	@cargo fmt --all --check
	@cargo clippy --locked --release --workspace --all-targets -- -D warnings
	@command -v cargo-deny >/dev/null || cargo install --locked --quiet cargo-deny
	@cargo fetch --locked
	@cargo deny --offline --all-features check licenses bans sources

third-party:
	@python3 scripts/third_party.py
