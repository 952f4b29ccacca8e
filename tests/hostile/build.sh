#!/bin/sh
# Builds the component of the hostile pack into target/hostile.
set -eu
cd "$(dirname "$0")/../.."
target/release/tympan-addon build tests/hostile --out-dir target/hostile --target-dir target/wasm
