#!/usr/bin/env python3
"""Single jobs, many jobs at once, and the memory that ten hours of audio take.

Prints Markdown. `bulk` and `memory` as arguments leave the other out. The file of ten hours
is a telephone call with pauses, over and over: 45 seconds of speech in each ten minutes, so
that the whole path can be measured, Whisper included. It needs 4 GB of disk. It is held
against ten minutes full of speech and against ten minutes with the same share of it.
"""
import os
import sys
import tempfile
import time
import wave

import bench

sys.path.insert(0, os.path.join(bench.ROOT, "examples"))
import demo  # noqa: E402

BULK = [f"en/fleurs-en-00{n}.ogg" for n in range(4)] + [
    "en/jfk.wav",
    "en/ljspeech_LJ001-0001.wav",
    "en/ljspeech_LJ001-0003.wav",
    "en/librispeech_1688-142285-0001.flac",
    "en/librispeech_1998-15444-0001.flac",
    "en/librispeech_1998-15444-0002.flac",
    "en/librispeech_2033-164914-0000.flac",
    "en/librispeech_2033-164914-0001.flac",
    "en/librispeech_2033-164914-0002.flac",
    "en/librispeech_2414-128291-0001.flac",
    "en/librispeech_2609-156975-0000.flac",
    "en/librispeech_2609-156975-0001.flac",
    "en/librispeech_2609-156975-0002.flac",
    "en/librispeech_1995-1837-0001.wav",
    "en/librivox_0870.wav",
    "en/pv_leopard_test.wav",
]
CALL = os.path.join(bench.AUDIO, "tel", "commercial_mono_8k.wav")
# Name, how often the call is repeated, and how many seconds there are from one to the next.
LENGTHS = [("10 minutes, full of speech", 13, 46), ("10 minutes", 1, 600), ("10 hours", 60, 600)]
LOOK_PAUSE_S = 0.01


class Service:
    """A running server and a server of recordings."""

    def __init__(self, folder):
        self.process, self.base = demo.start_tympan(folder)
        self.files = demo.serve_recordings(bench.AUDIO)

    def post(self, file):
        body = {"audio_url": f"http://127.0.0.1:{self.files.server_port}/{file}"}
        return "/v2/pre-recorded/" + demo.call(self.base, "/v2/pre-recorded", body)["id"]

    def wait(self, path):
        while (status := demo.call(self.base, path)["status"]) != "done":
            if status == "error":
                sys.exit(f"{path} failed")
            time.sleep(LOOK_PAUSE_S)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.files.shutdown()


def bench_bulk():
    """The same files one after the other and all at once, three times in turn."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(folder)
        try:
            service.wait(service.post(BULK[0]))
            print("| 20 files of 3 to 13 s | one after the other | all at once | ratio | goal |\n|---|---|---|---|---|")
            for turn in range(3):
                begun = time.monotonic()
                for file in BULK:
                    service.wait(service.post(file))
                single_s, begun = time.monotonic() - begun, time.monotonic()
                for path in [service.post(file) for file in BULK]:
                    service.wait(path)
                bulk_s = time.monotonic() - begun
                print(f"| run {turn + 1} | {single_s:.1f} s | {bulk_s:.1f} s | {bulk_s / single_s:.2f} | 0.85 |", flush=True)
        finally:
            service.stop()


def write_turns(path, turns, turn_s):
    """The call, then silence, so often."""
    with wave.open(CALL) as call, wave.open(path, "wb") as out:
        out.setparams(call.getparams())
        speech = call.readframes(call.getnframes())
        frame_bytes = call.getsampwidth() * call.getnchannels()
        turn = speech.ljust(turn_s * call.getframerate() * frame_bytes, b"\0")
        for _ in range(turns):
            out.writeframesraw(turn)


def bench_memory():
    """Peaks of processes that transcribe one file each."""
    print("\n| audio | of it speech | wall | peak memory | ratio | goal |\n|---|---|---|---|---|---|")
    shorter_mib = []
    for name, turns, turn_s in LENGTHS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "call.wav")
            write_turns(path, turns, turn_s)
            command = [bench.TYMPAN, "transcribe", path, "--language", "en"]
            wall_s, _, mib, _ = bench.measured(command, dict(os.environ, TMPDIR=folder))
        is_last = name == LENGTHS[-1][0]
        ratio = " and ".join(f"{mib / other:.2f}" for other in shorter_mib) if is_last else ""
        shorter_mib.append(mib)
        print(f"| {name} | {turns * 45} s | {wall_s:.0f} s | {mib:.0f} MiB | {ratio} | 1.1 |", flush=True)


if __name__ == "__main__":
    parts = {"bulk": bench_bulk, "memory": bench_memory}
    for part in sys.argv[1:] or parts:
        parts[part]()
