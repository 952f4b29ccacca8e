#!/usr/bin/env python3
"""Writes what the published network gives for recordings, to hold our own against.

    pip install numpy onnxruntime
    python3 reference.py silero-vad.whl OUTPUT_FOLDER RECORDING.wav...

Recordings are 16 kHz, mono, 16 bit. One file each, NAME.f32: the probability of every
32 ms as little-endian f32.
"""

import pathlib
import sys
import wave
import zipfile

import numpy as np
import onnxruntime

MEMBER = "silero_vad/data/silero_vad_16k_op15.onnx"
WINDOW, CONTEXT = 512, 64


def probabilities(session, samples):
    samples = np.pad(samples, (CONTEXT, -len(samples) % WINDOW)).astype(np.float32)
    state = np.zeros((2, 1, 128), np.float32)
    for start in range(0, len(samples) - CONTEXT, WINDOW):
        window = samples[None, start : start + CONTEXT + WINDOW]
        inputs = {"input": window, "state": state, "sr": np.array(16000, np.int64)}
        probability, state = session.run(None, inputs)
        yield probability[0, 0]


def read(path):
    with wave.open(path) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2), path
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / np.float32(32768)


def main(wheel, folder, *recordings):
    session = onnxruntime.InferenceSession(zipfile.ZipFile(wheel).read(MEMBER))
    for path in recordings:
        values = np.fromiter(probabilities(session, read(path)), "<f4")
        pathlib.Path(folder, pathlib.Path(path).stem + ".f32").write_bytes(values.tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
