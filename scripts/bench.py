#!/usr/bin/env python3
"""Speed and memory of `tympan transcribe`, beside faster-whisper where it can be had.

Prints Markdown. Each figure is one whole process: start, model load, decoding, voice
activity detection, Whisper, words. The other system gets the same model (base), the same
two threads, the same files and the language in the same run, one after the other (other.py).
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import other
from quality import edits, tokens

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
AUDIO = os.path.join(ROOT, "tests", "fixtures", "audio")
TYMPAN = os.path.join(ROOT, "target", "release", "tympan")
FILES = ["en/jfk.wav", "en/sonnet_01.mp3", "long/long_en_5readers.mp3"]
RUNS = 3
OTHER = """
import sys
from faster_whisper import WhisperModel, BatchedInferencePipeline
folder, mode, file = sys.argv[1:]
model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=2)
options = dict(language="en", beam_size=1, word_timestamps=True, condition_on_previous_text=False)
if mode == "batched":
    segments, _ = BatchedInferencePipeline(model).transcribe(file, batch_size=8, **options)
else:
    segments, _ = model.transcribe(file, **options)
print("".join(segment.text for segment in segments))
"""


def measured(command, environment=None):
    """Wall seconds, CPU seconds and peak MiB of one process, and what it printed."""
    with tempfile.TemporaryFile() as errors:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)
        text = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        took_s = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{command[0]} failed:\n{errors.read().decode()}")
    return took_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def one_hour_transcript(folder):
    """A transcript of 10,000 words: the words of a real recording, again and again."""
    command = [TYMPAN, "transcribe", os.path.join(AUDIO, "en/sonnet_01.mp3"), "--format", "json"]
    result = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    spoken, length = result["transcription"]["utterances"], result["metadata"]["audio_duration"]
    words_once = sum(len(utterance["words"]) for utterance in spoken)
    utterances = []
    for turn in range(10_000 // words_once + 1):
        copy = json.loads(json.dumps(spoken))
        for item in [part for utterance in copy for part in (utterance, *utterance["words"])]:
            item["start"] += turn * length
            item["end"] += turn * length
        utterances += copy
    result["transcription"]["utterances"] = utterances
    result["metadata"]["audio_duration"] = (turn + 1) * length
    file = os.path.join(folder, "hour.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(result, out)
    return file


def bench_addons(folder):
    """Each add-on on 10,000 words, as a component and natively: tests/benches/addons.rs."""
    command = ["cargo", "bench", "--locked", "--quiet", "--workspace", "--bench", "addons", "--"]
    print(flush=True)
    subprocess.run([*command, one_hour_transcript(folder)], check=True, cwd=ROOT)


def facts_of(file):
    with open(os.path.join(AUDIO, "manifest.json"), encoding="utf-8") as manifest:
        return next(facts for facts in json.load(manifest)["files"] if facts["file"] == file)


def error_rate(reference, text):
    """Word error rate, as in quality.py."""
    said = tokens(reference, "en")
    return edits(said, tokens(text, "en")) / len(said)


def main():
    systems = {"tympan": lambda path: ([TYMPAN, "transcribe", path, "--language", "en"], None)}
    python = other.python()
    if python:
        for mode in ("sequential", "batched"):
            systems[f"faster-whisper int8 {mode}"] = lambda path, mode=mode: ([python, "-c", OTHER, other.MODEL, mode, path], other.ENVIRONMENT)
    print("| recording | system | real-time factor | CPU s per audio s | peak MiB | word error rate |\n|---|---|---|---|---|---|")
    for file in FILES:
        facts = facts_of(file)
        length = facts["duration"]
        rounds = {name: [] for name in systems}
        for _ in range(RUNS):
            for name, command in systems.items():
                rounds[name].append(measured(*command(os.path.join(AUDIO, file))))
        for name, figures in rounds.items():
            wall, cpu, peak, text = (sorted(column)[len(column) // 2] for column in zip(*figures))
            wrong = error_rate(facts["reference"], text)
            print(f"| {file} ({length:.0f} s) | {name} | {wall / length:.3f} | {cpu / length:.3f} | {peak:.0f} | {wrong:.1%} |", flush=True)


if __name__ == "__main__":
    if "addons" not in sys.argv[1:]:
        main()
    with tempfile.TemporaryDirectory() as scratch:
        bench_addons(scratch)
