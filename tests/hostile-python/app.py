"""Does what an add-on must not be able to do; its config says what.

The sandbox answers each with an error or the deadline. What Python made of it is the result, so
that a test can see that nothing got through.
"""

import encodings.idna  # noqa: F401  without it Python gives up on host names before the sandbox does
import os
import socket
import sys
import time

from tympan_addon import component


def open_file():
    with open("/etc/passwd") as file:
        return file.readline()


def write_file():
    with open("/tmp/tympan-hostile", "w") as file:
        return file.write("escaped")


def list_root():
    return os.listdir("/")


def read_environment():
    return dict(os.environ)


def connect(port):
    with socket.socket() as connection:
        connection.connect(("127.0.0.1", port))
        return str(connection.getpeername())


def resolve():
    return str(socket.getaddrinfo("localhost", 80))


def listen():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        return str(server.getsockname())


def sleep_an_hour():
    time.sleep(3600)
    return "awake"


def loop():
    while True:
        pass


def eat_memory():
    chunks = []
    while True:
        chunks.append(bytearray(1 << 24))


def print_a_megabyte():
    for _ in range(16384):
        print("x" * 63)
    return "printed"


def clock():
    return [time.time(), os.urandom(8).hex()]


def end_the_program():
    sys.exit(3)


DEEDS = [
    open_file, write_file, list_root, read_environment, connect, resolve, listen,
    sleep_an_hour, loop, eat_memory, print_a_megabyte, clock, end_the_program,
]  # fmt: skip


def process(config, _job, _transcript):
    deed = {deed.__name__: deed for deed in DEEDS}[config["do"]]
    got = deed(config.get("port", 80)) if deed is connect else deed()
    return {"did": config["do"], "got": got}


def check_config(config):
    ports = {80: "http", 443: "https"}
    if config.get("named"):
        config["port_name"] = ports[config["port"]]
    return config


Manifest, Transform = component(
    name="hostile_python",
    version="0.1.0",
    slot="analysis",
    summary="Tries to leave the sandbox",
    config_schema={
        "type": "object",
        "required": ["do"],
        "properties": {
            "do": {"enum": [deed.__name__ for deed in DEEDS]},
            "named": {"type": "boolean"},
            "port": {"type": "integer", "default": 80, "description": "Where to connect to on 127.0.0.1."},
        },
    },
    check_config=check_config,
    process=process,
)
