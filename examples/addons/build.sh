#!/bin/sh
# build.sh [rust|python]: builds the add-ons of this folder, and the hostile one of the tests, into
# target/examples. Python components are built again only when something in them changed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/target/examples
which=${1:-all}
venv=$root/target/python-addons
componentize_py=componentize-py==0.25.1
mkdir -p "$out"

install_componentize_py() {
    if "$venv/bin/componentize-py" --version 2>/dev/null | grep -q "${componentize_py#*==}"; then
        return
    fi
    # A moved checkout leaves programs that point to their old place.
    python3 -m venv --clear "$venv" || {
        echo "python3 cannot make a virtual environment: apt-get install python3-venv" >&2
        exit 1
    }
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$componentize_py"
}

# build_python FOLDER NAME: the system interface (WASI) stays in place, not stubbed out.
build_python() {
    digest=$({
        find "$1" "$root/sdk/python" "$root/wit/0.1.0" \( -name '*.py' -o -name '*.wit' \) -print0 |
            sort -z | xargs -0 cat
        echo "$componentize_py"
    } | sha256sum | cut -c1-64)
    stamp=$venv/$2.digest
    if [ -f "$out/$2.wasm" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$digest" ]; then
        return
    fi
    install_componentize_py
    echo "building $2 with $componentize_py"
    "$venv/bin/componentize-py" --quiet --wit-path "$root/wit/0.1.0" --world pure-addon componentize \
        --python-path "$root/sdk/python" --python-path "$1" app --output "$out/$2.wasm.part"
    mv "$out/$2.wasm.part" "$out/$2.wasm"
    echo "$digest" >"$stamp"
}

build_rust() {
    addon=$root/target/release/tympan-addon
    if [ ! -x "$addon" ]; then
        echo "there is no $addon: run make build" >&2
        exit 1
    fi
    "$addon" build "$root/examples/addons/call-quality" --out-dir "$out"
}

if [ "$which" != python ]; then
    build_rust
fi
if [ "$which" != rust ]; then
    build_python "$root/examples/addons/follow-ups" follow_ups
    build_python "$root/tests/hostile-python" hostile_python
fi
