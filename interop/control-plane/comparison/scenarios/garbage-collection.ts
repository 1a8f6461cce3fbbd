import { ConfigMap, Secret } from '@coxswain/api/core/v1'
import type { Scenario, Stage } from '../stage.ts'

interface Owner {
  readonly name: string
  readonly uid: string
  readonly blocking?: boolean
  readonly kind?: string
}

const missing = { name: 'missing', uid: '12345678-1234-1234-1234-123456789012' }
const held = ['example.com/wait']

async function make(
  stage: Stage,
  name: string,
  owners: readonly Owner[] = [],
  finalizers: readonly string[] = [],
) {
  const made = await stage.create(ConfigMap, name, {
    metadata: { finalizers, ownerReferences: owners.map(referenceTo) },
  })
  return { name, uid: made.metadata.uid }
}

const referenceTo = ({ name, uid, blocking, kind = 'ConfigMap' }: Owner) => ({
  apiVersion: 'v1',
  kind,
  name,
  uid,
  ...(blocking && { blockOwnerDeletion: true }),
})
const blocking = (owner: Owner) => ({ ...owner, blocking: true })
const setOwners = (stage: Stage, name: string, owners: readonly Owner[]) =>
  stage.patch(ConfigMap, name, { metadata: { ownerReferences: owners.map(referenceTo) } })
const release = (stage: Stage, name: string) =>
  stage.patch(ConfigMap, name, { metadata: { finalizers: null } })
type Policy = 'Background' | 'Foreground' | 'Orphan'
/** The collector has to have seen what is there. */
const remove = async (stage: Stage, name: string, propagationPolicy: Policy = 'Background') => {
  await stage.settle(1_500)
  await stage.remove(ConfigMap, name, { propagationPolicy })
}
const gone = (stage: Stage, name: string) =>
  stage.until(`${name} is deleted`, async () => (await stage.get(ConfigMap, name)) === undefined)

export const garbageCollectionScenarios: readonly Scenario[] = [
  {
    name: 'background: dependents and theirs are deleted, unrelated objects stay',
    act: async stage => {
      const owner = await make(stage, 'owner')
      const child = await make(stage, 'child', [owner])
      await make(stage, 'grandchild', [child])
      await make(stage, 'unrelated')
      await remove(stage, 'owner')
      await gone(stage, 'grandchild')
    },
  },
  {
    name: 'background: a dependent with a finalizer waits',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [owner], held)
      await remove(stage, 'owner')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.deletionTimestamp,
      )
    },
  },
  {
    name: 'two owners: what another one holds loses the reference to the deleted one',
    act: async stage => {
      const [one, two] = [await make(stage, 'one'), await make(stage, 'two')]
      await make(stage, 'child', [one, two])
      await remove(stage, 'one')
      await stage.until(
        'it has',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.ownerReferences?.length === 1,
      )
    },
  },
  {
    name: 'two owners: it goes after the last of them',
    act: async stage => {
      const [one, two] = [await make(stage, 'one'), await make(stage, 'two')]
      await make(stage, 'child', [one, two])
      await remove(stage, 'one')
      await remove(stage, 'two')
      await gone(stage, 'child')
    },
  },
  {
    name: 'orphan: dependents stay without the reference',
    act: async stage => {
      const owner = await make(stage, 'owner')
      const child = await make(stage, 'child', [owner])
      await make(stage, 'grandchild', [child])
      await remove(stage, 'owner', 'Orphan')
      await gone(stage, 'owner')
    },
  },
  {
    name: 'orphan: references to others stay',
    act: async stage => {
      const [one, two] = [await make(stage, 'one'), await make(stage, 'two')]
      await make(stage, 'child', [one, blocking(two)])
      await remove(stage, 'one', 'Orphan')
      await gone(stage, 'one')
    },
  },
  {
    name: 'orphan: an owner with another finalizer waits',
    act: async stage => {
      const owner = await make(stage, 'owner', [], held)
      await make(stage, 'child', [owner])
      await remove(stage, 'owner', 'Orphan')
      await stage.until(
        'its child is free',
        async () => !(await stage.get(ConfigMap, 'child'))?.metadata.ownerReferences,
      )
    },
  },
  {
    name: 'foreground: the owner goes after its blocking dependents',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [blocking(owner)])
      await remove(stage, 'owner', 'Foreground')
      await gone(stage, 'owner')
    },
  },
  {
    name: 'foreground: the owner waits for a dependent that waits',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [blocking(owner)], held)
      await remove(stage, 'owner', 'Foreground')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.deletionTimestamp,
      )
    },
  },
  {
    name: 'foreground: both go when the dependent is released',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [blocking(owner)], held)
      await remove(stage, 'owner', 'Foreground')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.deletionTimestamp,
      )
      await release(stage, 'child')
      await gone(stage, 'owner')
    },
  },
  {
    name: 'foreground: a dependent that does not block is not waited for',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [owner], held)
      await remove(stage, 'owner', 'Foreground')
      await gone(stage, 'owner')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.deletionTimestamp,
      )
    },
  },
  {
    name: 'foreground: dependents with dependents are deleted in the foreground too',
    act: async stage => {
      const owner = await make(stage, 'owner')
      const child = await make(stage, 'child', [blocking(owner)])
      await make(stage, 'grandchild', [blocking(child)], held)
      await remove(stage, 'owner', 'Foreground')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'grandchild'))?.metadata.deletionTimestamp,
      )
    },
  },
  {
    name: 'foreground: what another owner holds as well stays',
    act: async stage => {
      const [one, two] = [await make(stage, 'one'), await make(stage, 'two')]
      await make(stage, 'child', [blocking(one), two])
      await remove(stage, 'one', 'Foreground')
      await gone(stage, 'one')
    },
  },
  {
    name: 'foreground: an owner without dependents goes at once',
    act: async stage => {
      await make(stage, 'owner')
      await remove(stage, 'owner', 'Foreground')
      await gone(stage, 'owner')
    },
  },
  {
    name: 'blockOwnerDeletion is taken back',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [blocking(owner)], held)
      await remove(stage, 'owner', 'Foreground')
      await stage.settle(1_000)
      await setOwners(stage, 'child', [owner])
      await gone(stage, 'owner')
    },
  },
  {
    name: 'the reference is taken away',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [blocking(owner)], held)
      await remove(stage, 'owner', 'Foreground')
      await stage.settle(1_000)
      await setOwners(stage, 'child', [])
      await gone(stage, 'owner')
    },
  },
  {
    name: 'cycles: two that own each other go together',
    act: async stage => {
      const one = await make(stage, 'one')
      const two = await make(stage, 'two', [one])
      await setOwners(stage, 'one', [two])
      await remove(stage, 'one')
      await gone(stage, 'two')
    },
  },
  {
    name: 'cycles: two that block each other go in the foreground',
    act: async stage => {
      const one = await make(stage, 'one')
      const two = await make(stage, 'two', [blocking(one)])
      await setOwners(stage, 'one', [blocking(two)])
      await remove(stage, 'one', 'Foreground')
      await gone(stage, 'two')
      await gone(stage, 'one')
    },
  },
  {
    name: 'absent owners: what names one that never was is deleted',
    act: async stage => {
      await make(stage, 'child', [missing])
      await gone(stage, 'child')
    },
  },
  {
    name: 'absent owners: beside one that exists only the reference goes',
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'child', [owner, missing])
      await stage.until(
        'it has',
        async () => (await stage.get(ConfigMap, 'child'))?.metadata.ownerReferences?.length === 1,
      )
    },
  },
  {
    name: 'wrong uid: another object under the name of the owner owns nothing',
    act: async stage => {
      await make(stage, 'owner')
      await make(stage, 'child', [{ ...missing, name: 'owner' }])
      await gone(stage, 'child')
    },
  },
  {
    name: 'wrong kind: the right uid and another kind',
    chanceEvents: /./,
    act: async stage => {
      const owner = await make(stage, 'owner')
      await make(stage, 'good', [owner])
      await stage.settle(1_500)
      await stage.create(Secret, 'bad', {
        metadata: { ownerReferences: [referenceTo({ ...owner, kind: 'Secret' })] },
      })
      await stage.until('it is deleted', async () => (await stage.get(Secret, 'bad')) === undefined)
    },
  },
  {
    name: 'finalizers: a dependent that asks for it leaves orphans behind',
    act: async stage => {
      const owner = await make(stage, 'owner')
      const child = await make(stage, 'child', [owner], ['orphan'])
      await make(stage, 'grandchild', [child])
      await remove(stage, 'owner')
      await gone(stage, 'child')
    },
  },
  {
    name: 'finalizers: a dependent that asks for it is deleted in the foreground',
    act: async stage => {
      const owner = await make(stage, 'owner')
      const child = await make(stage, 'child', [owner], ['foregroundDeletion'])
      await make(stage, 'grandchild', [blocking(child)], held)
      await remove(stage, 'owner')
      await stage.until(
        'it is terminating',
        async () => (await stage.get(ConfigMap, 'grandchild'))?.metadata.deletionTimestamp,
      )
    },
  },
  {
    name: 'finalizers: an owner that is held back keeps its dependents',
    act: async stage => {
      const owner = await make(stage, 'owner', [], held)
      await make(stage, 'child', [owner])
      await remove(stage, 'owner')
    },
  },
  {
    name: 'an unknown kind of owner: it stays',
    chanceEvents: /./,
    act: async stage => {
      await stage.create(ConfigMap, 'child', {
        metadata: {
          ownerReferences: [{ apiVersion: 'missing.example.com/v1', kind: 'Nothing', ...missing }],
        },
      })
    },
  },
]
