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

The package also holds silero_vad_16k.safetensors: other weights (of another training run)
whose probabilities differ by up to 0.4. The ONNX files are what the package runs.
"""

import array
import hashlib
import math
import sys
import zipfile

MEMBER = "silero_vad/data/silero_vad_16k_op15.onnx"
FLOAT = 1
SOURCE_SHA256 = "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"


def read_tensors(model):
    """Names, shapes and values of the initialisers in an ONNX file (protocol buffers)."""
    (graph,) = fields(model, 7)
    tensors = {}
    for tensor in fields(graph, 5):
        shape = [size for part in fields(tensor, 1) for size in part]
        (name,), raw = fields(tensor, 8), fields(tensor, 9)
        if raw and fields(tensor, 2) == [[FLOAT]]:
            values = array.array("f")
            values.frombytes(raw[0])
            tensors[bytes(name).decode()] = (shape, values)
    return tensors


def fields(message, wanted):
    """The occurrences of a field: bytes, or a list of integers."""
    at, found = 0, []
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
            value = [value]
        elif tag & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at : at + size], at + size
        else:
            value, at = None, at + {1: 8, 5: 4}[tag & 7]
        if tag >> 3 == wanted:
            found.append(value)
    return found


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


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
    for name in ("model.decoder.rnn.weight_ih", "model.decoder.rnn.weight_hh"):
        (outputs, inputs), values = tensors[name]
        for i in range(inputs):
            matrix.extend(values[o * inputs + i] for o in range(outputs))
    pairs = zip(tensors["model.decoder.rnn.bias_ih"][1], tensors["model.decoder.rnn.bias_hh"][1])
    matrix.extend(a + b for a, b in pairs)
    return matrix


def main(wheel, output):
    source = zipfile.ZipFile(wheel).read(MEMBER)
    assert hashlib.sha256(source).hexdigest() == SOURCE_SHA256, "another version of the weights"
    tensors = read_tensors(source)
    check_fourier_basis(*tensors["model.stft.forward_basis_buffer"])
    weights = (
        convolution(tensors, "model.encoder.0.reparam_conv", (0, 1, 2))
        + convolution(tensors, "model.encoder.1.reparam_conv", (0, 1, 2))
        + convolution(tensors, "model.encoder.2.reparam_conv", (1, 2))
        + convolution(tensors, "model.encoder.3.reparam_conv", (1,))
        + lstm(tensors)
        + convolution(tensors, "model.decoder.decoder.2", (0,))
    )
    if sys.byteorder == "big":
        weights.byteswap()
    with open(output, "wb") as file:
        weights.tofile(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
