#!/usr/bin/env python3
"""The published client libraries against this service, unmodified.

Starts the server on a free port with a temporary data folder and the header that the
libraries send, runs one script for each library, and stops the server. `make clients`
installs the libraries into target/clients first.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CLIENTS = os.path.join(ROOT, "target", "clients")
RECORDING = os.path.join(ROOT, "tests", "fixtures", "audio", "en", "jfk.wav")
KEY = "key-of-the-client-tests"
CONFIG = '[auth]\nheader_aliases = ["x-gladia-key"]\n'
TIME_LIMIT_S = 300


def start_tympan(folder):
    config = os.path.join(folder, "tympan.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG)
    environment = dict(
        os.environ,
        TYMPAN_CONFIG=config,
        TYMPAN_LISTEN="127.0.0.1:0",
        TYMPAN_DATA_DIR=os.path.join(folder, "data"),
        TYMPAN_API_KEY=KEY,
    )
    log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
    binary = os.path.join(ROOT, "target", "release", "tympan")
    process = subprocess.Popen([binary, "serve"], env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    line = process.stdout.readline().strip()
    if not line.startswith("listening on "):
        process.wait(timeout=10)
        sys.exit("the server did not start:\n" + open(log.name, encoding="utf-8").read())
    return process, line.removeprefix("listening on ")


def main():
    scripts = [
        ["node", os.path.join(CLIENTS, "sdk.mjs")],
        [os.path.join(CLIENTS, "py", "bin", "python"), os.path.join(HERE, "sdk.py")],
    ]
    # Modules are looked up from where the script lies.
    with open(os.path.join(HERE, "sdk.mjs"), encoding="utf-8") as source:
        with open(os.path.join(CLIENTS, "sdk.mjs"), "w", encoding="utf-8") as target:
            target.write(source.read())
    with tempfile.TemporaryDirectory() as folder:
        process, base = start_tympan(folder)
        try:
            for script in scripts:
                subprocess.run([*script, base, KEY, RECORDING], check=True, timeout=TIME_LIMIT_S)
        finally:
            process.terminate()
            process.wait(timeout=60)


if __name__ == "__main__":
    main()
