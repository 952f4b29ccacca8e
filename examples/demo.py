#!/usr/bin/env python3
"""The whole service in one run: start it, transcribe a recording, print what came out.

Starts the server on a free port with a temporary data folder, serves a recording over
HTTP, posts it with custom spelling, sentences, subtitles and a custom add-on switched on,
polls until the job ends, prints the result, and stops what it started.
"""
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDINGS = os.path.join(ROOT, "tests", "fixtures", "audio", "en")
RECORDING = "jfk.wav"
KEY = "demo-key"
TIME_LIMIT_S = 300


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_recordings(folder=RECORDINGS):
    handler = functools.partial(QuietHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start_tympan(folder):
    """A server with the built-in add-ons and one custom add-on, dropped into its data folder."""
    addons = os.path.join(folder, "data", "addons")
    os.makedirs(addons)
    shutil.copy(os.path.join(ROOT, "target", "examples", "call_quality.wasm"), addons)
    environment = dict(
        os.environ,
        TYMPAN_LISTEN="127.0.0.1:0",
        TYMPAN_DATA_DIR=os.path.join(folder, "data"),
        TYMPAN_API_KEY=KEY,
        TYMPAN_ALLOW_PRIVATE_URLS="true",
    )
    log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
    binary = os.path.join(ROOT, "target", "release", "tympan")
    process = subprocess.Popen([binary, "serve"], env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    line = process.stdout.readline().strip()
    if not line.startswith("listening on "):
        process.wait(timeout=10)
        sys.exit("the server did not start:\n" + open(log.name, encoding="utf-8").read())
    return process, line.removeprefix("listening on ")


def call(base, path, body=None):
    request = urllib.request.Request(base + path, headers={"x-service-key": KEY})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{path} answered {error.code}: {error.read().decode()}")


def wait_for(base, job_id):
    begun = time.monotonic()
    while time.monotonic() - begun < TIME_LIMIT_S:
        job = call(base, f"/v2/pre-recorded/{job_id}")
        print(f"\r  {job['status']:<10} {time.monotonic() - begun:5.1f} s", end="", flush=True)
        if job["status"] in ("done", "error"):
            print()
            return job, time.monotonic() - begun
        time.sleep(0.2)
    sys.exit(f"\nthe job did not end within {TIME_LIMIT_S} s")


def print_result(job, wall_s):
    result = job["result"]
    transcription = result["transcription"]
    print("\nTranscript\n  " + transcription["full_transcript"])
    print("\nSentences")
    for sentence in transcription["sentences"][0]["results"]:
        print("  - " + sentence)
    print("\nSRT")
    print("  " + transcription["subtitles"][0]["subtitles"].strip().replace("\n", "\n  "))
    print("\nCustom add-on call_quality")
    print("  " + json.dumps(result["call_quality"]["results"], ensure_ascii=False)[:600])
    metadata = result["metadata"]
    print("\nTimings")
    print(f"  audio          {metadata['audio_duration']:6.2f} s")
    print(f"  transcription  {metadata['transcription_time']:6.2f} s")
    print(f"  POST to done   {wall_s:6.2f} s")


def main():
    folder = tempfile.mkdtemp(prefix="tympan-demo-")
    files = serve_recordings()
    process, base = start_tympan(folder)
    print(f"tympan is {base}")
    try:
        request = {
            "audio_url": f"http://127.0.0.1:{files.server_port}/{RECORDING}",
            "custom_spelling": True,
            "custom_spelling_config": {"spelling_dictionary": {"AMERICANS": ["americans"]}},
            "sentences": True,
            "subtitles": True,
            "call_quality": True,
        }
        job_id = call(base, "/v2/pre-recorded", request)["id"]
        print(f"job {job_id}")
        job, wall_s = wait_for(base, job_id)
        if job["status"] == "error":
            sys.exit(f"the job failed: {job['error_code']} {job['post_session_metadata']}")
        print_result(job, wall_s)
    finally:
        process.terminate()
        process.wait(timeout=30)
        files.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
