import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Plan } from '../plan.ts'
import type { Action } from '../scenario/action.ts'
import { minimise } from './minimise.ts'

const action = (name: string): Action => ({
  action: 'create',
  apiVersion: 'v1',
  kind: 'X',
  name,
  wait: 'settle',
})

describe('minimise', () => {
  it('removes faults and actions that are not needed, and rounds times', async () => {
    const plan: Plan = {
      seed: 1,
      faults: [
        { fault: 'duplicate', write: 1 },
        { fault: 'pause', write: 2, ms: 20_000 },
      ],
      actions: ['a', 'b', 'c'].map(action),
      replicas: 2,
    }
    const least = await minimise(plan, async ({ faults, actions }) => {
      const pause = faults.find(({ fault }) => fault === 'pause')
      return pause?.fault === 'pause' && pause.ms >= 4_000 && actions!.some(({ name }) => name === 'b')
    })
    const faults = [{ fault: 'pause', write: 2, ms: 5_000 }]
    assert.deepEqual(least, { seed: 1, faults, actions: [action('b')] })
  })

  it('keeps a plan of which everything is needed', async () => {
    const plan: Plan = { seed: 1, faults: [{ fault: 'duplicate', write: 1 }] }
    assert.deepEqual(await minimise(plan, async () => false), plan)
  })
})
