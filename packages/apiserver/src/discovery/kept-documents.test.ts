import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Clock, decodeText, VirtualWorld } from '@coxswain/kit'
import { isStream, readBody } from '@coxswain/wire'
import { Turns } from '../cache/slices.ts'
import type { Compression } from '../request/compression.ts'
import { KeptDocuments } from './kept-documents.ts'

const { clock } = new VirtualWorld()
const turns = new Turns(clock)
const compression: Compression = { gzip: body => body, gunzip: body => body, pack: body => body }
const large = ['{"a":"', 'x'.repeat(100_000), '"}']

describe('KeptDocuments', () => {
  it('builds a document once for all readers, until its inputs change', async () => {
    const documents = new KeptDocuments(turns)
    let made = 0
    const ask = (of: readonly unknown[]) =>
      documents.get('a', of, () => {
        made++
        return ['x']
      })
    const [one, two] = await Promise.all([ask([1]), ask([1])])
    assert.equal(one, two)
    assert.equal(await ask([1]), one)
    assert.equal(made, 1)
    await ask([2])
    assert.equal(made, 2)
  })

  it('builds one at a time, and after several changes only the last one', async () => {
    const documents = new KeptDocuments(turns)
    const made: number[] = []
    let running = 0
    function* pieces(version: number) {
      made.push(version)
      assert.equal(++running, 1)
      yield `version ${version}`
      running--
    }
    const asked = [1, 2, 3, 4].map(version => documents.get('a', [version], () => pieces(version)))
    const contents = (await Promise.all(asked)).map(({ bytes }) => decodeText(bytes))
    assert.deepEqual(made, [4])
    assert.deepEqual(new Set(contents), new Set(['version 4']))
  })

  it('yields while it builds a large one', async () => {
    let now = 0
    let pauses = 0
    const busy: Clock = {
      ...clock,
      monotonic: () => ++now,
      sleep: async () => {
        pauses++
      },
    }
    await new KeptDocuments(new Turns(busy)).get('a', [], () => Array.from({ length: 1_000 }, () => 'piece'))
    assert.ok(pauses > 50, String(pauses))
  })

  it('keeps a large one compressed, and streams it to readers that do not accept gzip', async () => {
    const documents = new KeptDocuments(turns, compression)
    const document = await documents.get('a', [], () => large)
    assert.ok(document.packed)
    assert.equal(document.length, large.join('').length)
    const body = documents.plain(document)
    assert.ok(isStream(body))
    assert.equal(decodeText(await readBody(body)), large.join(''))
    assert.equal((await documents.get('b', [], () => ['{}'])).packed, false)
  })

  it('tries again after a failure', async () => {
    const documents = new KeptDocuments(turns)
    const fail = () => {
      throw new Error('broken')
    }
    await assert.rejects(documents.get('a', [], fail), /broken/)
    assert.equal(decodeText((await documents.get('a', [], () => ['x'])).bytes), 'x')
  })
})
