#!/usr/bin/env python3
"""Writes silero_vad.bin from the weights in the PyPI package silero-vad (MIT, see LICENSE).

    pip download --no-deps silero-vad==6.2.3
    python3 make.py silero_vad-6.2.3-py3-none-any.whl silero_vad.bin

The file is little-endian f32 and nothing else, in the order of the calls below. A layer is
one matrix, rows for inputs (tap by tap, then channel by channel) and columns for outputs,
so that a window of input channels laid end to end multiplies it; then its bias. What a
32 ms window cannot reach is left out: the spectrum of a window has 4 columns, 2 after the
second layer, 1 after the third, so the first tap of the third layer and the outer taps of
the fourth only ever meet padding. The two bias vectors of the LSTM are added up. The
short-time Fourier basis is not stored: it is a Fourier transform under a Hann window, which
is checked here.
"""

import array
import hashlib
import json
import math
import struct
import sys
import zipfile

MEMBER = "silero_vad/data/silero_vad_16k.safetensors"
SOURCE_SHA256 = "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1"


def read_tensors(data):
    (header_size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + header_size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = (8 + header_size + offset for offset in entry["data_offsets"])
        values = array.array("f")
        values.frombytes(data[begin:end])
        tensors[name] = (entry["shape"], values)
    return tensors


def check_fourier_basis(shape, values):
    assert shape == [258, 1, 256]
    for k in range(129):
        for n in range(256):
            hann = 0.5 - 0.5 * math.cos(2 * math.pi * n / 256)
            angle = 2 * math.pi * k * n / 256
            assert abs(values[k * 256 + n] - hann * math.cos(angle)) < 1e-6
            assert abs(values[(129 + k) * 256 + n] + hann * math.sin(angle)) < 1e-6


def convolution(tensors, name, taps):
    (outputs, inputs, width), values = tensors[f"{name}.weight"]
    matrix = array.array("f")
    for tap in taps:
        for i in range(inputs):
            matrix.extend(values[(o * inputs + i) * width + tap] for o in range(outputs))
    return matrix + tensors[f"{name}.bias"][1]


def lstm(tensors):
    matrix = array.array("f")
    for name in ("lstm_cell.weight_ih", "lstm_cell.weight_hh"):
        (outputs, inputs), values = tensors[name]
        for i in range(inputs):
            matrix.extend(values[o * inputs + i] for o in range(outputs))
    pairs = zip(tensors["lstm_cell.bias_ih"][1], tensors["lstm_cell.bias_hh"][1])
    matrix.extend(a + b for a, b in pairs)
    return matrix


def main(wheel, output):
    source = zipfile.ZipFile(wheel).read(MEMBER)
    assert hashlib.sha256(source).hexdigest() == SOURCE_SHA256, "another version of the weights"
    tensors = read_tensors(source)
    check_fourier_basis(*tensors["stft_conv.weight"])
    weights = (
        convolution(tensors, "conv1", (0, 1, 2))
        + convolution(tensors, "conv2", (0, 1, 2))
        + convolution(tensors, "conv3", (1, 2))
        + convolution(tensors, "conv4", (1,))
        + lstm(tensors)
        + convolution(tensors, "final_conv", (0,))
    )
    if sys.byteorder == "big":
        weights.byteswap()
    with open(output, "wb") as file:
        weights.tofile(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
