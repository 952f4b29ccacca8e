"""The add-on `follow_ups`: what was promised in a call, by whom, and until when."""

from datetime import datetime, timezone

import follow_ups
from tympan_addon import BadConfig, Fail, accepted_at_ms, component

CONFIG_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "default_days": {
            "type": "integer", "minimum": 0, "maximum": 365, "default": 3,
            "description": "Days until a promise is due that names no date.",
        },
        "channels": {
            "type": "array", "items": {"type": "integer", "minimum": 0},
            "description": "Channels whose promises count, such as the agent's; all when absent.",
        },
    },
}  # fmt: skip


def check_config(config):
    config.setdefault("default_days", 3)
    if config.get("channels") == []:
        raise BadConfig("/channels", "must name a channel, or be left out")
    return config


def process(config, job, transcript):
    today = datetime.fromtimestamp(accepted_at_ms() / 1000, timezone.utc).date()
    channels = config.get("channels")
    if channels and max(channels) >= job.audio.channels:
        raise Fail(422, "NoSuchChannel", f"the audio has {job.audio.channels} channel(s), counted from 0")
    spoken = [u for u in transcript.utterances if not channels or u.channel in channels]
    found = follow_ups.promises(spoken, today, config["default_days"])
    print(f"{len(found)} promises in {len(spoken)} utterances")
    return found


Manifest, Transform = component(
    name="follow_ups",
    version="0.1.0",
    slot="analysis",
    summary="What was promised in a call, and until when (English)",
    config_schema=CONFIG_SCHEMA,
    check_config=check_config,
    process=process,
)
