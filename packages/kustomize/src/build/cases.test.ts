import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isKustomizeError } from '../errors.ts'
import { memoryFiles } from '../files.ts'
import { allCases, type BuildCase, rootOf } from '../test-support/cases.ts'
import { buildKustomization } from './build.ts'

function build(each: BuildCase): string {
  const files = memoryFiles(new Map([...each.files].map(([path, content]) => [`/case/${path}`, content])))
  return buildKustomization(`/case/${rootOf(each)}`, files).text
}

describe('builds that the real kustomize 5.8 answered', () => {
  const cases = allCases()

  it('are many, each with a name of its own and an answer', () => {
    assert.ok(cases.length >= 200)
    assert.equal(new Set(cases.map(each => each.name)).size, cases.length)
    assert.deepEqual(
      cases.filter(each => !each.isRecorded).map(each => each.name),
      [],
    )
  })

  for (const each of cases) {
    it(each.name, () => {
      if (each.output !== undefined) assert.equal(build(each), each.output)
      else assert.throws(() => build(each), isKustomizeError)
    })
  }
})
