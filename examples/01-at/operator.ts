/** The cloud-native `at`: runs a pod once, at a given time. */
import { Container, Pod } from '@coxswain/api/core/v1'
import { defineKind, defineOperator, type KindOf, newControllerReference, requeueAfter, s } from 'coxswain'

export const At = defineKind({
  group: 'cnat.programming-kubernetes.info',
  kind: 'At',
  plural: 'ats',
  shortNames: ['at'],
  versions: {
    v1alpha1: {
      storage: true,
      spec: s.object({
        schedule: s.time().doc('When to run, RFC 3339.'),
        containers: s.listMap(['name'], s.ref(Container)).doc('What to run, as in a Pod.'),
      }),
      status: s.object({ phase: s.enumOf('PENDING', 'RUNNING', 'DONE').default('PENDING') }),
      columns: { Schedule: '.spec.schedule', Phase: '.status.phase' },
    },
  },
})
export type At = KindOf<typeof At.v1alpha1>

export default defineOperator('cnat', operator => {
  operator
    .controller('at')
    .for(At.v1alpha1)
    .owns(Pod)
    .reconcile(async ({ key, client, clock, events }) => {
      const at = await client.get(At.v1alpha1, key)
      if (!at || at.metadata.deletionTimestamp || at.status?.phase === 'DONE') return
      const setPhase = (phase: 'PENDING' | 'RUNNING' | 'DONE') =>
        client.updateStatus(At.v1alpha1, { ...at, status: { phase } })

      const wait = Date.parse(at.spec.schedule) - clock.now()
      if (!at.status?.phase) {
        await setPhase('PENDING')
        events.normal(at, 'Scheduled', `runs at ${at.spec.schedule}`)
        return requeueAfter(Math.max(0, wait))
      }
      if (wait > 0) return requeueAfter(wait)

      const podKey = { namespace: at.metadata.namespace ?? 'default', name: `${at.metadata.name}-pod` }
      const pod = await client.get(Pod, podKey)
      if (!pod) {
        await client.create(Pod, {
          metadata: {
            ...podKey,
            labels: { app: at.metadata.name },
            ownerReferences: [newControllerReference(at)],
          },
          spec: { containers: at.spec.containers, restartPolicy: 'OnFailure' },
        })
        events.normal(at, 'Started', `created pod ${podKey.name}`)
      }
      if (at.status.phase === 'PENDING') {
        await setPhase('RUNNING')
        return
      }
      const phase = pod?.status?.phase
      if (phase !== 'Succeeded' && phase !== 'Failed') return
      await setPhase('DONE')
      events.normal(at, 'Finished', `pod ${podKey.name} ${phase === 'Succeeded' ? 'succeeded' : 'failed'}`)
    })
})
