#!/usr/bin/env python3
"""All tests of the workspace, one test program more at a time than the machine has cores.

`cargo test` runs its programs one after the other, and many of ours mostly wait: for a lease
to end, for a time limit to pass. Cargo builds them here and names them; each runs in the
folder of its package, as under cargo, and its output is printed when it has ended. Those
that took longest in the last run start first; in the first run, those of the whole service.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CARGO_TEST = ["cargo", "test", "--locked", "--release", "--workspace"]
AT_A_TIME = (os.cpu_count() or 1) + 1
# A thread of libgomp that waits for another spins first; where programs share the cores, the
# other one cannot run meanwhile. Spun that long, a first job took up to nine times its CPU time.
ENVIRONMENT = dict(os.environ, GOMP_SPINCOUNT="1000")
TIMES = os.path.join(ROOT, "target", "tmp", "test-times.json")


def build():
    """Name, program and folder of every test target."""
    command = [*CARGO_TEST, "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit(built.returncode)
    programs = []
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder = os.path.dirname(message["manifest_path"])
            name = f"{os.path.relpath(folder, ROOT)} {message['target']['name']} ({message['target']['kind'][0]})"
            programs.append((name, message["executable"], folder))
    return programs


def run(program):
    name, executable, folder = program
    begun = time.monotonic()
    process = subprocess.Popen(
        [executable], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took_s, cpu_s = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
    print(f"\n{name}, {took_s:.1f} s, {cpu_s:.1f} s of CPU\n{output}", end="", flush=True)
    return name, process.returncode, took_s


def last_times():
    try:
        with open(TIMES, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def main():
    programs, last = build(), last_times()
    programs.sort(key=lambda program: -last.get(program[0], 60 if program[0].startswith("tests ") else 0))
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        ended = list(pool.map(run, programs))
    os.makedirs(os.path.dirname(TIMES), exist_ok=True)
    with open(TIMES, "w", encoding="utf-8") as file:
        json.dump({name: took_s for name, _, took_s in ended}, file)
    failed = [name for name, code, _ in ended if code != 0]
    if subprocess.run([*CARGO_TEST, "--doc"], cwd=ROOT).returncode != 0:
        failed.append("examples in the documentation")
    if failed:
        sys.exit("failed: " + ", ".join(failed))
    print(f"all {len(ended)} test programs passed")


if __name__ == "__main__":
    main()
