/** Faults that the search has to find: a server with one of them fails, and without it passes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionPlugin } from '@coxswain/apiserver'
import { builtinTargets } from './samples.ts'
import { searchGrowth } from './search.ts'
import { startServer } from './server.ts'

const accounts = builtinTargets().filter(({ name }) => name === 'v1/serviceaccounts')
const skip = (name: string) => name.endsWith('.ObjectMeta')

interface Account {
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
}

const secretsOf = (object: unknown): readonly (string | undefined)[] =>
  ((object as Account | undefined)?.imagePullSecrets ?? []).map(({ name }) => name)

/** Looks for each element among those before it. */
const unique: AdmissionPlugin = {
  name: 'PlantedUnique',
  validate({ object }) {
    const names = secretsOf(object)
    for (const [index, name] of names.entries()) if (names.lastIndexOf(name, index - 1) > 0) return
  },
}

/** Looks for each element of the old object in the new one. */
const kept: AdmissionPlugin = {
  name: 'PlantedKept',
  validate({ object, oldObject }) {
    const names = secretsOf(object)
    for (const name of secretsOf(oldObject)) if (names.includes(`${name}!`)) return
  },
}

/** Answers with a bug when there is much. */
const broken: AdmissionPlugin = {
  name: 'PlantedBroken',
  validate({ object }) {
    Math.max(...secretsOf(object).map(Number), ...new Array<number>(200_000).fill(0))
  },
}

const faultsWith = async (...plugins: readonly AdmissionPlugin[]) => {
  const start = () => startServer(plugins)
  return (await searchGrowth(accounts, { skip, start, atFullSize: 1 })).faults
}

test('finds nothing where nothing is wrong', async () => {
  assert.deepEqual(await faultsWith(), [])
})

test('finds a search through a list for each of its elements', async () => {
  const faults = await faultsWith(unique)
  assert.ok(
    faults.some(fault => /imagePullSecrets, distinct/.test(fault)),
    faults.join('\n'),
  )
})

test('finds a comparison of each old element with each new one', async () => {
  const faults = await faultsWith(kept)
  assert.ok(
    faults.some(fault => /imagePullSecrets, .* (update|patch|apply) 200/.test(fault)),
    faults.join('\n'),
  )
})

test('finds a bug that only long lists show', async () => {
  const faults = await faultsWith(broken)
  assert.ok(
    faults.some(fault => /500.*RangeError/.test(fault)),
    faults.join('\n'),
  )
})
