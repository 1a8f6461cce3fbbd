/** The cloud-native `at`: runs a pod once, at a given time. */
import { Container, Pod } from '@coxswain/api/core/v1'
import {
  type Condition,
  type DeepReadonly,
  defineKind,
  defineOperator,
  isControlledBy,
  type KindOf,
  newControllerReference,
  parseTime,
  requeueAfter,
  s,
  setStatusCondition,
} from 'coxswain'

export const At = defineKind({
  group: 'cnat.programming-kubernetes.info',
  kind: 'At',
  plural: 'ats',
  shortNames: ['at'],
  versions: {
    v1alpha1: {
      storage: true,
      spec: s.object({
        // Not s.time(): a schedule that is not valid is reported by a condition and an event, and can be corrected in place.
        schedule: s.string().doc('When to run, RFC 3339.'),
        containers: s.listMap(['name'], s.ref(Container)).doc('What to run, as in a Pod.'),
      }),
      status: s.object({
        phase: s.enumOf('PENDING', 'RUNNING', 'DONE').default('PENDING'),
        conditions: s.conditions().optional(),
      }),
      columns: { Schedule: '.spec.schedule', Phase: '.status.phase' },
    },
  },
})
export type At = KindOf<typeof At.v1alpha1>

/** Kept on an At until its Pod is deleted. */
export const finalizer = 'cnat.programming-kubernetes.info/pod'

/** How long to wait for a Pod of our name that we do not own to be deleted. */
const nameTakenDelay = 60_000

export default defineOperator('cnat', operator => {
  operator
    .controller('at')
    .for(At.v1alpha1)
    .owns(Pod)
    .finalizer(finalizer, async ({ key, client, events }) => {
      const at = await client.get(At.v1alpha1, key)
      const pod = await client.get(Pod, podKeyOf(key))
      if (!at || !pod || !isControlledBy(pod, at)) return
      if (!pod.metadata.deletionTimestamp) {
        await client.delete(Pod, podKeyOf(key), { preconditions: { uid: pod.metadata.uid } })
        events.normal(at, 'Stopped', `deleted pod ${pod.metadata.name}`)
      }
      return requeueAfter(nameTakenDelay) // its end is an event of its own
    })
    .reconcile(async ({ key, client, clock, events }) => {
      const at = await client.get(At.v1alpha1, key)
      if (!at || at.metadata.deletionTimestamp || at.status?.phase === 'DONE') return
      const phase = at.status?.phase ?? 'PENDING'
      /** Writes the status when it says something new. */
      const report = async (next: NonNullable<At['status']>['phase'], said: Said): Promise<boolean> => {
        const conditions = (at.status?.conditions ?? []).map(condition => ({ ...condition }))
        const observedGeneration = at.metadata.generation ?? 0
        const changed = setStatusCondition(conditions, { ...said, observedGeneration }, clock)
        if (!changed && at.status?.phase === next) return false
        await client.updateStatus(At.v1alpha1, { ...at, status: { phase: next, conditions } })
        return true
      }

      if (phase === 'PENDING') {
        const due = millisecondsOf(at.spec.schedule)
        if (due === undefined) {
          const message = `${JSON.stringify(at.spec.schedule)} is no RFC 3339 time such as 2026-04-01T12:00:00Z`
          const isNews = await report('PENDING', no('Scheduled', 'BadSchedule', message))
          if (isNews) events.warning(at, 'BadSchedule', message)
          return // until the spec changes
        }
        const message = `runs at ${at.spec.schedule}`
        const wait = due - clock.now()
        if (await report('PENDING', yes('Scheduled', 'Accepted', message))) {
          events.normal(at, 'Scheduled', message)
          return requeueAfter(Math.max(0, wait))
        }
        if (wait > 0) return requeueAfter(wait)
      }

      const podKey = podKeyOf(key)
      const pod = await client.get(Pod, podKey)
      if (pod && !isControlledBy(pod, at)) {
        const message = `pod ${podKey.name} exists and is not owned by this At`
        if (await report(phase, no('Finished', 'NameTaken', message)))
          events.warning(at, 'NameTaken', message)
        return requeueAfter(nameTakenDelay)
      }
      if (!pod && phase === 'RUNNING' && !(await client.get(Pod, podKey, { cached: false }))) {
        const message = `pod ${podKey.name} was deleted before it had ended`
        await report('DONE', yes('Finished', 'PodDeleted', message))
        events.warning(at, 'PodDeleted', message)
        return
      }
      if (!pod && phase === 'PENDING') {
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
      if (phase === 'PENDING') {
        await report('RUNNING', no('Finished', 'PodRunning', `pod ${podKey.name} runs`))
        return
      }
      const outcome = pod?.status?.phase
      if (outcome !== 'Succeeded' && outcome !== 'Failed') return
      const message = `pod ${podKey.name} ${outcome === 'Succeeded' ? 'succeeded' : 'failed'}`
      await report('DONE', yes('Finished', `Pod${outcome}`, message))
      events.normal(at, 'Finished', message)
    })
})

type Said = Pick<DeepReadonly<Condition>, 'type' | 'status' | 'reason' | 'message'>

const yes = (type: string, reason: string, message: string): Said => ({
  type,
  status: 'True',
  reason,
  message,
})
const no = (type: string, reason: string, message: string): Said => ({
  type,
  status: 'False',
  reason,
  message,
})

function podKeyOf({ namespace = 'default', name }: { readonly namespace?: string; readonly name: string }) {
  return { namespace, name: `${name}-pod` }
}

/** Undefined if it is not a valid time. */
function millisecondsOf(schedule: string): number | undefined {
  try {
    return parseTime(schedule).milliseconds
  } catch {
    return undefined
  }
}
