#!/bin/sh
# Builds the components of the hostile pack into target/hostile, and the one that redacts into
# target/redactor.
set -eu
cd "$(dirname "$0")/../.."
addon=target/release/tympan-addon
"$addon" build tests/hostile --out-dir target/hostile --target-dir target/wasm
"$addon" build tests/redactor --out-dir target/redactor --target-dir target/wasm
