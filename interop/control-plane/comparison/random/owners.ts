import { ConfigMap, Secret } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Stage } from '../stage.ts'
import { endNamespace } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const kindOf = (name: string): Kind => (name < 'd' ? ConfigMap : Secret) as Kind
const hold = 'example.com/hold'

/** References to those that are there; what is wrong with one is drawn before. */
type Flaw = 'none' | 'blocking' | 'controller' | 'uid' | 'kind' | 'name'
interface Wanted {
  readonly name: string
  readonly flaw: Flaw
}
const drawOwners = (draw: Draw): readonly Wanted[] => {
  const chosen = names.filter(() => draw.chance(0.3))
  return chosen.map(name => ({
    name,
    flaw: draw.pick(['none', 'none', 'blocking', 'blocking', 'uid', 'kind', 'name'] as const),
  }))
}

async function references(stage: Stage, owners: readonly Wanted[]): Promise<object[]> {
  const found: object[] = []
  for (const { name, flaw } of owners) {
    const kind = kindOf(name)
    const owner = await stage.get(kind, name)
    if (!owner) continue
    found.push({
      apiVersion: 'v1',
      kind: flaw === 'kind' ? (kind.kind === 'Secret' ? 'ConfigMap' : 'Secret') : kind.kind,
      name: flaw === 'name' ? 'another' : name,
      uid: flaw === 'uid' ? `00000000-0000-4000-8000-00000000000${names.indexOf(name)}` : owner.metadata.uid,
      ...(flaw === 'blocking' && { blockOwnerDeletion: true }),
    })
  }
  return found
}

const make = (draw: Draw): Action => {
  const name = draw.pick(names)
  const owners = drawOwners(draw)
  const finalizers = draw.chance(0.2) ? [hold] : []
  return {
    say: `${name} of ${owners.map(each => `${each.name} (${each.flaw})`)} ${finalizers}`,
    run: async stage => {
      const ownerReferences = await references(stage, owners)
      if (await stage.get(kindOf(name), name))
        await stage.patch(kindOf(name), name, { metadata: { ownerReferences } })
      else await stage.create(kindOf(name), name, { metadata: { ownerReferences, finalizers } })
    },
  }
}
const remove = (draw: Draw): Action => {
  const name = draw.pick(names)
  const propagationPolicy = draw.pick(['Background', 'Foreground', 'Orphan'] as const)
  return {
    say: `${name} deleted ${propagationPolicy}`,
    run: stage => stage.remove(kindOf(name), name, { propagationPolicy }),
  }
}
const release = (draw: Draw): Action => {
  const name = draw.pick(names)
  return {
    say: `${name} let go`,
    run: async stage => {
      const { finalizers = [] } = (await stage.get(kindOf(name), name))?.metadata ?? {}
      await stage.patch(kindOf(name), name, {
        metadata: { finalizers: finalizers.filter(each => each !== hold) },
      })
    },
  }
}

export const owners: Family = draw => ({
  actions: [
    ...drawActions(draw, 5, [make]),
    ...drawActions(draw, 8, [make, make, remove, remove, remove, release]),
    ...(draw.chance(0.1) ? endNamespace : []),
  ],
})
