import type { ApiObject, DeepReadonly, OwnerReference } from '@coxswain/apimachinery'

import { Informer } from '@coxswain/informers'
import { TaskGroup } from '@coxswain/kit'
import { defineOperator, listerWatcherOf, type Operator } from '@coxswain/runtime'
import { apiVersionOf, ResourceKinds, type ServedKind } from '../resource-kinds.ts'
import { Collector } from './collector.ts'
import type { Observed } from './graph.ts'

/** How often the server is asked which resources it has. */
const discoveryPeriod = 5_000

/** Resources that have no owners and come and go too often to be watched for nothing. */
const ignored = new Set(['/events', 'events.k8s.io/events'])

const needed = ['delete', 'list', 'watch']

/**
 * Deletes objects whose owners are gone, lets dependents go where an owner is deleted as an orphan, and holds owners
 * back that are deleted in the foreground, for every resource the server has.
 */
export function createGarbageCollector(): Operator {
  return defineOperator('garbage-collector', operator => {
    operator.task('garbage-collector', async ({ client, env, events, signal }) => {
      const direct = client.direct
      const kinds = new ResourceKinds(direct)
      const collector = new Collector({ client: direct, env, kinds, events })
      await using group = new TaskGroup(signal)
      group.spawn(stop => collector.run(stop))
      const monitors = new Map<string, AbortController>()

      const monitor = ({ kind }: ServedKind, name: string) => {
        const stop = new AbortController()
        monitors.set(name, stop)
        const apiVersion = apiVersionOf(kind)
        const observe = (object: DeepReadonly<ApiObject>) =>
          collector.observe(observedOf(object, apiVersion, kind.kind))
        const informer = new Informer<ApiObject>({
          env,
          name: `gc ${name}`,
          source: listerWatcherOf(direct, kind, { metadataOnly: true }),
        })
        informer.addHandler({
          onAdd: observe,
          onUpdate: (_, object) => observe(object),
          onDelete: object => collector.forget(object.metadata.uid),
        })
        group.spawn(cancel => informer.run(AbortSignal.any([cancel, stop.signal])))
      }

      while (!signal.aborted) {
        try {
          const resources = (await kinds.refresh()).filter(isCollectable)
          const names = new Map(
            resources.map(resource => [`${resource.kind.group}/${resource.kind.resource}`, resource]),
          )
          for (const [name, resource] of names) if (!monitors.has(name)) monitor(resource, name)
          for (const [name, stop] of monitors) {
            if (names.has(name)) continue
            stop.abort()
            monitors.delete(name)
          }
        } catch (error) {
          if (signal.aborted) return
          env.log.warn('discovery failed', { error })
        }
        await env.clock.sleep(discoveryPeriod, { signal })
      }
    })
  })
}

function isCollectable({ kind, verbs }: ServedKind): boolean {
  return needed.every(verb => verbs.includes(verb)) && !ignored.has(`${kind.group}/${kind.resource}`)
}

function observedOf(object: DeepReadonly<ApiObject>, apiVersion: string, kind: string): Observed {
  const {
    namespace = '',
    name,
    uid,
    ownerReferences = [],
    finalizers = [],
    deletionTimestamp,
  } = object.metadata
  return {
    apiVersion,
    kind,
    namespace,
    name,
    uid,
    owners: ownerReferences as readonly OwnerReference[],
    finalizers,
    isBeingDeleted: deletionTimestamp !== undefined,
  }
}
