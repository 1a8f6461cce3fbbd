/** Faults that the search has to find: a server with one of them fails, and without it passes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionPlugin } from '@coxswain/apiserver'
import { builtinTargets } from './samples.ts'
import { searchGrowth } from './search.ts'
import { startServer } from './server.ts'

const accounts = builtinTargets().filter(({ name }) => name === 'v1/serviceaccounts')
/** The planted faults are heavy, so that small bodies show them. */
const lengths = [16 * 1024, 64 * 1024, 256 * 1024] as const
const skip = (name: string) => name.endsWith('.ObjectMeta')

interface Account {
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
}

const secretsOf = (object: unknown): readonly (string | undefined)[] =>
  ((object as Account | undefined)?.imagePullSecrets ?? []).map(({ name }) => name)

/** Compares each element with all before it. */
const unique: AdmissionPlugin = {
  name: 'PlantedUnique',
  validate({ object }) {
    const names = secretsOf(object)
    names.every((name, index) => !names.slice(0, index).some(other => other === name))
  },
}

/** Compares each element of the old object with all of the new one. */
const kept: AdmissionPlugin = {
  name: 'PlantedKept',
  validate({ object, oldObject }) {
    const names = secretsOf(object)
    secretsOf(oldObject).every(old => !names.slice().some(name => name === old))
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
  return (await searchGrowth(accounts, { skip, start, lengths, atFullSize: 0 })).faults
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
