import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { buildKustomization, isKustomizeError } from '@coxswain/kustomize'
import { diskFiles } from '@coxswain/kustomize/node'
import { allCases, expandLibrary, rootOf } from '../../packages/kustomize/src/test-support/cases.ts'
import { componentPath } from '../../tools/components/index.ts'
import { randomOverlay } from './random-overlay.ts'
import { buildWithReal, withFiles } from './real.ts'

const program = componentPath('kustomize-5.8')
const runs = Number(process.env.TORTURE_RUNS ?? 300)
const seed = Number(process.env.TORTURE_SEED ?? 18)

/** Builds a folder with both, and fails unless they print the same or both refuse. Says whether they refuse. */
function compare(folder: string): boolean {
  const real = buildWithReal(program, folder)
  let ours: string | undefined
  let refusal = ''
  try {
    ours = buildKustomization(folder, diskFiles()).text
  } catch (error) {
    if (!isKustomizeError(error)) throw error
    refusal = error.message
  }
  assert.equal(ours, real.output, `ours: ${refusal}\nreal: ${real.errors}`)
  return ours === undefined
}

describe('kustomizations built by the real kustomize 5.8 and by ours', () => {
  for (const each of allCases()) {
    it(each.name, () => {
      const refused = withFiles(each.files, folder => compare(join(folder, rootOf(each))))
      assert.equal(refused, each.output === undefined, 'the recorded answer is another one')
    })
  }
})

describe(`random overlays, seed ${seed}`, () => {
  it(`${runs} of them are built alike`, () => {
    const random = createSeededRandom(seed)
    let refusals = 0
    for (let run = 0; run < runs; run++) {
      const files = randomOverlay(random)
      const refused = withFiles(expandLibrary(files), folder => {
        try {
          return compare(join(folder, 'app'))
        } catch (error) {
          throw new Error(
            `run ${run}:\n${[...files].map(([path, text]) => `-- ${path} --\n${text}`).join('')}${(error as Error).message}`,
          )
        }
      })
      if (refused) refusals++
    }
    assert.ok(refusals < runs * 0.7, `${refusals} of ${runs} are refused: the generator is too wild`)
  })
})
