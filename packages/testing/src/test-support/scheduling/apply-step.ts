import { Node, Pod } from '@coxswain/api/core/v1'
import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import { type Given, namespace, outcomeOf, type Scenario, type Step } from './scenario.ts'

export async function create(client: Client, [kind, given]: Given): Promise<void> {
  const key = keyOf(given.metadata)
  const object = given as unknown as ApiObject
  const made = await client.create(kind, object).catch(error => {
    if (isAlreadyExists(error)) return undefined
    throw error
  })
  if (!made) return
  if (given.status !== undefined)
    await client.patch(kind, key, { status: given.status }, { type: 'merge', subresource: 'status' })
  if (kind !== Node) return
  const { taints = [] } = (given.spec ?? {}) as { taints?: readonly object[] } // admission has added one
  await client.patch(Node, key, { spec: { taints } }, { type: 'merge' })
}

const keyOf = ({ name, namespace: where }: { name: string; namespace?: string }): ObjectKey =>
  where === undefined ? { name } : { name, namespace: where }

/** `name`, or `namespace/name`. */
function parseName(name: string): ObjectKey {
  const [first = '', second] = name.split('/')
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second }
}

/** `pause` separates other objects from the first pod after them: caches of different kinds are not synchronized. */
export async function apply(client: Client, step: Step, pause?: () => Promise<void>): Promise<void> {
  let before: Given | undefined
  for (const given of step.create ?? []) {
    if (pause && before && before[0] !== Pod && given[0] === Pod) await pause()
    await create(client, given)
    before = given
  }
  for (const [kind, name, patch, subresource] of step.patch ?? []) {
    const key = kind.namespaced ? parseName(name) : { name }
    await client.patch(kind, key, patch, { type: 'merge', ...(subresource && { subresource }) })
  }
  for (const [kind, name] of step.delete ?? []) {
    const key = kind.namespaced ? parseName(name) : { name }
    await client.delete(kind, key, { gracePeriodSeconds: 0 })
  }
}

/** What has become of the pods that a step speaks of. */
export async function look(client: Client, { end = {} }: Step): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {}
  for (const name of Object.keys(end)) outcomes[name] = outcomeOf(await client.get(Pod, parseName(name)))
  return outcomes
}

/** Takes away what a scenario has brought, pods first. */
export async function clear(client: Client, { nodes, steps }: Scenario): Promise<void> {
  const all = [...nodes, ...steps.flatMap(step => step.create ?? [])]
  for (const [kind, { metadata }] of all.sort(([a], [b]) => Number(b === Pod) - Number(a === Pod))) {
    const key = keyOf(metadata)
    try {
      await client.delete(kind, key, { gracePeriodSeconds: 0 })
      await client.patch(kind, key, { metadata: { finalizers: null } }, { type: 'merge' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
