"""What a generator of requests cannot know about this API."""

import json
import os

import schemathesis
from hypothesis import strategies as st

# Nothing is sent beyond this machine: every address leads to a recording on loopback.
RECORDING = st.just(os.environ["RECORDING_URL"])
schemathesis.openapi.format("iri", RECORDING)
schemathesis.openapi.format("uri", RECORDING)

# Longest filter by metadata, in characters; no schema of an object says how long its text is.
FILTER_CHARS = 2000

ATTACHED = ("post_session_metadata", "post_request_metadata")


@schemathesis.hook
def before_call(context, case, kwargs):
    """The config of an add-on counts only while its flag is on, so the flag goes on."""
    body = case.body
    if isinstance(body, dict) and case.operation.path in ("/v2/pre-recorded", "/v2/transcription"):
        for name in list(body):
            flag = name.removesuffix("_config")
            if flag not in (name, "language") and body.get(flag) in (None, False):
                body[flag] = True
        part_durations(body.get("subtitles_config"))
        part_spellings(body.get("custom_spelling_config"))
    elif isinstance(body, dict) and case.method == "PATCH" and not any(body.get(name) for name in ATTACHED):
        # One of them is required, which generators of clients cannot read from a schema.
        body.update({name: {} for name in ATTACHED if body.get(name) is None})


def part_durations(config):
    """The add-on wants the shortest cue to be shorter than the longest, which is 1 s at least."""
    least = config.get("minimum_duration") if isinstance(config, dict) else None
    if isinstance(least, (int, float)) and least > 1:
        config["minimum_duration"] = 1


def part_spellings(config):
    """The add-on wants no blank spelling and none that belongs to two names."""
    names = config.get("spelling_dictionary") if isinstance(config, dict) else None
    if isinstance(names, dict) and all(is_texts(variants) for variants in names.values()):
        config["spelling_dictionary"] = {
            f"{at} {name[:20]}": [f"{at} {number} {variant[:20]}" for number, variant in enumerate(variants)]
            for at, (name, variants) in enumerate(names.items())
        }


def is_texts(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


@schemathesis.hook
def filter_query(context, query):
    metadata = (query or {}).get("custom_metadata")
    text = metadata if isinstance(metadata, str) else json.dumps(metadata, ensure_ascii=False)
    return len(text) <= FILTER_CHARS
