#!/usr/bin/env bash
# Installs what the build needs and this machine lacks. Safe to run again: a second run
# only looks. TYMPAN_WASM_TOOLCHAIN=auto|rustup|debian chooses the compiler for add-ons.
set -euo pipefail

stop() { echo "setup: $*" >&2; exit 1; }

command -v cargo >/dev/null || stop "cargo is missing; install Rust 1.95 or newer from https://rustup.rs"
command -v python3 >/dev/null || stop "python3 is missing; install Python 3.9 or newer"
python3 -m pip --version >/dev/null 2>&1 || stop "pip is missing; install it for python3 (Debian: python3-pip)"

packages=()
need() { command -v "$1" >/dev/null || packages+=("$2"); }
need cmake cmake
need c++ g++
need make make
python3 -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3-venv)

rustup_has_wasm() {
    command -v rustup >/dev/null && rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown
}
debian_wasm() {
    command -v wasm-ld-19 >/dev/null || packages+=(lld-19)
    for package in rustc-web cargo-web rust-web-src; do
        dpkg -s "$package" >/dev/null 2>&1 || packages+=("$package")
    done
}
case "${TYMPAN_WASM_TOOLCHAIN:-auto}" in
    debian) debian_wasm ;;
    rustup)
        rustup_has_wasm || rustup target add wasm32-unknown-unknown \
            || stop "rustup cannot add wasm32-unknown-unknown; try TYMPAN_WASM_TOOLCHAIN=debian" ;;
    auto)
        rustup_has_wasm || { command -v rustup >/dev/null && timeout 60 rustup target add wasm32-unknown-unknown >/dev/null 2>&1; } \
            || debian_wasm ;;
    *) stop "TYMPAN_WASM_TOOLCHAIN is '${TYMPAN_WASM_TOOLCHAIN}'; use auto, rustup or debian" ;;
esac

[ ${#packages[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || stop "install these packages with your system's package manager: ${packages[*]}"
[ "$(id -u)" = 0 ] || stop "run as root: apt-get install --no-remove ${packages[*]}"
echo "setup: installing ${packages[*]}"
apt-get update -qq || stop "apt-get update failed; check the network and the package sources"
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove "${packages[@]}" >/dev/null \
    || stop "apt refused (see above); a common reason is that rustc-web conflicts with Debian's rustc: remove that, or use TYMPAN_WASM_TOOLCHAIN=rustup"
