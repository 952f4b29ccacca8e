#!/usr/bin/env python3
"""Word error rate and language of every recording with a reference, and the error of word
times, as Markdown tables.

Runs `tympan transcribe` on each, the way a user would. Rates for zh, ja are per character.
Text is lower-cased and stripped of punctuation; numbers are not normalised, so digits
against words count as errors: compare rows with each other, not with papers. Where its packages
can be had, faster-whisper hears the same recordings (scripts/other.py). Word times are compared
with those of an independent aligner (tests/fixtures/words/make.py).
"""
import collections
import difflib
import json
import os
import subprocess
import unicodedata

import other

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
AUDIO = os.path.join(ROOT, "tests", "fixtures", "audio")
TYMPAN = os.path.join(ROOT, "target", "release", "tympan")
WORDS = os.path.join(ROOT, "tests", "fixtures", "words", "en.json")
UNSPACED = {"zh", "ja"}
OTHER = """
import sys
from faster_whisper import WhisperModel
folder, *files = sys.argv[1:]
model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=2)
options = dict(beam_size=1, vad_filter=True, condition_on_previous_text=False)
for file in files:
    print(" ".join(segment.text.strip() for segment in model.transcribe(file, **options)[0]))
"""


def tokens(text, language):
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c == "'" else " " for c in text.lower())
    return [c for c in kept if not c.isspace()] if language in UNSPACED else kept.split()


def edits(said, heard):
    row = list(range(len(heard) + 1))
    for i, left in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(heard, 1):
            diagonal, row[j] = row[j], min(diagonal + (left != right), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def share(wrong, words):
    return f"{100 * wrong / words:.1f} %"


def transcribe(file, *options):
    command = [TYMPAN, "transcribe", os.path.join(AUDIO, file), "--format", "json", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        raise SystemExit(f"{file}: {run.stderr}")
    return json.loads(run.stdout)["transcription"]


def heard_by_other(files):
    """What faster-whisper hears in each file; nothing where it cannot be had."""
    python = other.python()
    if python is None:
        return {}
    command = [python, "-c", OTHER, other.MODEL, *(os.path.join(AUDIO, file) for file in files)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=other.ENVIRONMENT)
    return dict(zip(files, run.stdout.splitlines()))


def bare(word):
    return "".join(c for c in word.lower() if c.isalnum() or c == "'")


def time_errors(accurate):
    """Of starts and of ends, ours less the reference's in ms, over words that both have."""
    request = json.dumps({"accurate_words_timestamps": accurate})
    starts, ends = [], []
    with open(WORDS, encoding="utf-8") as file:
        reference = json.load(file)
    for file, said in reference.items():
        result = transcribe(file, "--language", "en", "--request", request)
        heard = [word for utterance in result["utterances"] for word in utterance["words"]]
        pairs = difflib.SequenceMatcher(None, [w[0] for w in said], [bare(w["word"]) for w in heard], autojunk=False)
        for a, b, size in pairs.get_matching_blocks():
            for (_, start, end), word in zip(said[a : a + size], heard[b : b + size]):
                starts.append(1000 * (word["start"] - start))
                ends.append(1000 * (word["end"] - end))
    return starts, ends


def word_times():
    print("\n| word times | words | | median error | mean | 90 % below | bias |\n|---|---|---|---|---|---|---|")
    for accurate in (False, True):
        name = "`accurate_words_timestamps`" if accurate else "default"
        for side, errors in zip(("start", "end"), time_errors(accurate)):
            far = sorted(map(abs, errors))
            median, high, bias = far[len(far) // 2], far[len(far) * 9 // 10], sorted(errors)[len(errors) // 2]
            mean = sum(far) / len(far)
            print(f"| {name} | {len(far)} | {side} | {median:.0f} ms | {mean:.0f} ms | {high:.0f} ms | {bias:+.0f} ms |", flush=True)


def main():
    with open(os.path.join(AUDIO, "manifest.json"), encoding="utf-8") as manifest:
        files = json.load(manifest)["files"]
    skipped = ("formats/", "damaged/", "codeswitch/", "stereo/")
    files = [r for r in files if r.get("reference") and r["language"] and not r["file"].startswith(skipped)]
    theirs = heard_by_other([recording["file"] for recording in files])
    total = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    print("| recording | language found | words said | word error rate | faster-whisper |\n|---|---|---|---|---|")
    for recording in files:
        file, language = recording["file"], recording["language"]
        result = transcribe(file)
        said = tokens(recording["reference"], language)
        wrong = edits(said, tokens(result["full_transcript"], language))
        others = edits(said, tokens(theirs[file], language)) if file in theirs else 0
        found = result["languages"][0] if result["languages"] else "none"
        note = "" if found == language else f" (is {language})"
        rates = f"{share(wrong, len(said))} | {share(others, len(said)) if theirs else ''}"
        print(f"| {file} | {found}{note} | {len(said)} | {rates} |", flush=True)
        for name in (language, "all"):
            counts = (1, found == language, len(said), wrong, others)
            total[name] = [sum(pair) for pair in zip(total[name], counts)]
    print("\n| language | recordings | language right | words | word error rate | faster-whisper |\n|---|---|---|---|---|---|")
    for language, (count, right, words, wrong, others) in sorted(total.items(), key=lambda row: (row[0] == "all", row[0])):
        rates = f"{share(wrong, words)} | {share(others, words) if theirs else ''}"
        print(f"| {language} | {count} | {right} | {words} | {rates} |")
    word_times()


if __name__ == "__main__":
    main()
