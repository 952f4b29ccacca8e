// npm @gladiaio/sdk: a recorded job from upload to deletion.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { GladiaClient } from "@gladiaio/sdk"

const [apiUrl, apiKey, recording] = process.argv.slice(2)
const client = new GladiaClient({ apiKey, apiUrl })
const [preRecorded, live] = [client.preRecordedV2(), client.liveV2()]

const uploaded = await preRecorded.uploadFile(recording)
const ids = []
for (const take of [1, 2]) {
  const { id } = await preRecorded.create({
    audio_url: uploaded.audio_url,
    custom_metadata: { library: "js", take, last: take === 2 },
  })
  const job = await preRecorded.poll(id, { interval: 200 })
  assert.match(job.result.transcription.full_transcript, /your country/)
  ids.unshift(id)
}
const listed = async (filter) => (await preRecorded.list(filter)).items.map((job) => job.id)
const ours = { library: "js" }
assert.deepEqual(await listed({ custom_metadata: ours }), ids)
assert.deepEqual(await listed({ custom_metadata: { ...ours, take: 1, last: false } }), [ids[1]])
assert.deepEqual(await listed({ custom_metadata: ours, status: ["error", "queued"] }), [])
assert.deepEqual(await listed({ custom_metadata: ours, after_date: new Date().toISOString() }), [])
const first = await preRecorded.list({ custom_metadata: ours, status: ["done", "error"], limit: 1 })
assert.equal(first.items[0].id, ids[0])
const second = await preRecorded.list({ url: first.next })
assert.deepEqual([second.items.map((job) => job.id), second.next], [[ids[1]], null])

assert.deepEqual(Buffer.from(await preRecorded.getFile(ids[0])), readFileSync(recording))
for (const id of ids) assert.equal(await preRecorded.delete(id), true)
await assert.rejects(preRecorded.get(ids[0]), (error) => error.status === 404)
assert.deepEqual(await listed({ custom_metadata: ours }), [])
assert.deepEqual((await live.list()).items, [])
console.log("npm @gladiaio/sdk: upload, create, poll, list, file, delete")
