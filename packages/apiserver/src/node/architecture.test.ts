import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { finalizeSteps } from '../endpoints/namespace-finalize.ts'
import { scaleSteps } from '../endpoints/scale.ts'
import { createApiServer } from '../server.ts'
import { pipelines } from '../write/pipeline.ts'

const text = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8')

/** The lines of the diagram "A write" between two of its files. */
function drawnBetween(first: string, last: string): string[] {
  const drawing = text.slice(text.indexOf('## A write'), text.indexOf('## A watch'))
  const lines = drawing.split('\n')
  const start = lines.findIndex(line => line.includes(first))
  const end = lines.findIndex((line, index) => index > start && line.includes(last))
  assert.ok(start > 0 && end > start, `${first} is drawn before ${last}`)
  return lines.slice(start + 1, end)
}

/** The steps of each list as drawn: a label, and names with arrows between them, on one line or more. */
function drawnLists(lines: readonly string[]): [string, string[]][] {
  const lists: [string, string[]][] = []
  for (const line of lines) {
    const [, label, names] = /^ +│ {3}(.{16})(\S.*)$/.exec(line) ?? []
    if (label === undefined || names === undefined || !(names.includes('→') || lists.length > 0)) continue
    if (label.trim() !== '') lists.push([label.trim(), []])
    lists.at(-1)?.[1].push(
      ...names
        .split('→')
        .map(name => name.trim())
        .filter(Boolean),
    )
  }
  return lists
}

describe('ARCHITECTURE.md', () => {
  it('has the filters that every request passes', () => {
    const env = { ...createRealEnv(), tracer: {} as never }
    const server = createApiServer({
      env,
      store: createMemoryStore({ env }),
      audit: { policy: { rules: [] }, backends: [] } as never,
      platform: { compression: {} as never, readLargeYaml: (async () => ({})) as never },
    })
    const drawn = drawnBetween('src/server.ts', 'src/endpoints/route.ts').flatMap(
      line => /^ +│ {3}(.+?) ──/.exec(line)?.[1] ?? [],
    )
    assert.deepEqual(drawn, server.filters)
  })

  it('has the steps of every write', () => {
    const lists = drawnLists(drawnBetween('src/write/pipeline.ts', 'src/write/store-new.ts'))
    const expected: [string, readonly { readonly name: string }[]][] = [
      ['create', pipelines.create],
      ['update', pipelines.receive],
      ['each attempt', pipelines.update],
      ['new object', pipelines.createReceived],
      ['patch', pipelines.patch],
      ['apply', pipelines.apply],
      ['new object', pipelines.applyNew],
      ['delete', pipelines.delete],
      ['admitted', pipelines.deleteAdmitted],
      ['scale', scaleSteps],
      ['finalize', finalizeSteps],
    ]
    assert.equal(Object.keys(pipelines).length, expected.length - 2, 'every list is drawn')
    assert.deepEqual(
      lists,
      expected.map(([label, steps]) => [label, steps.map(({ name }) => name)]),
    )
  })
})
