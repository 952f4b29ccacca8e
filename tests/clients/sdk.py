"""PyPI gladiaio-sdk: a recorded job from upload to deletion."""
import sys
from datetime import datetime, timezone
from pathlib import Path

from gladiaio_sdk import GladiaClient

base, key, recording = sys.argv[1:]
client = GladiaClient(api_key=key, api_url=base)
recorded = client.pre_recorded_v2()
ours = {"library": "py"}


def listed(**params):
    return [job.id for job in recorded.list(params).items]


audio_url = recorded.upload_file(recording).audio_url
ids = []
for take in (1, 2):
    metadata = {**ours, "take": take, "last": take == 2}
    job_id = recorded.create({"audio_url": audio_url, "custom_metadata": metadata}).id
    job = recorded.poll(job_id, interval=0.2)
    assert "your country" in job.result.transcription.full_transcript
    ids.insert(0, job_id)

assert listed(custom_metadata=ours) == ids
assert listed(custom_metadata={**ours, "take": 1, "last": False}) == ids[1:]
assert listed(custom_metadata=ours, status=["error", "queued"]) == []
assert listed(custom_metadata=ours, after_date=datetime.now(timezone.utc).isoformat()) == []
first = recorded.list({"custom_metadata": ours, "status": ["done", "error"], "limit": 1})
assert [job.id for job in first.items] == ids[:1]
second = recorded.list({"url": first.next})
assert ([job.id for job in second.items], second.next) == (ids[1:], None)

assert recorded.get_file(ids[0]) == Path(recording).read_bytes()
assert all(recorded.delete(job_id) for job_id in ids)
try:
    recorded.get(ids[0])
    raise AssertionError("a deleted job was found")
except Exception as error:
    assert getattr(error, "status", None) == 404, error
assert listed(custom_metadata=ours) == []
print("PyPI gladiaio-sdk: upload, create, poll, list, file, delete")
