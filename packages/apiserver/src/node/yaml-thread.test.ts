import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { createYamlThread } from './yaml-thread.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('createYamlThread', () => {
  it('returns YAML as JSON, several documents at a time, each its own', async () => {
    const read = createYamlThread()
    const answers = await Promise.all(['a: 1\nb: [x, "1"]', 'c: yes', ''].map(text => read(bytes(text))))
    assert.deepEqual(
      answers.map(({ json }) => JSON.parse(new TextDecoder().decode(json))),
      [{ a: 1, b: ['x', '1'] }, { c: true }, null],
    )
  })

  it('reports strict decoding errors', async () => {
    const { json, problems } = await createYamlThread()(bytes('a: 1\na: 2'))
    assert.equal(new TextDecoder().decode(json), '{"a":2}')
    assert.match(problems[0]!, /key "a" already set in map/)
  })

  it('rejects with the errors of readYaml', async () => {
    await assert.rejects(createYamlThread()(bytes('a: [')), error => isMachineryError(error, 'BadYaml'))
  })

  it('leaves the caller its bytes', async () => {
    const text = bytes('a: 1')
    await createYamlThread()(text)
    assert.equal(text.length, 4)
  })
})
