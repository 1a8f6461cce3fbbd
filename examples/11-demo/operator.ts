/** A Demo has something outside of the cluster, which a finalizer deletes before the object is deleted. */
import { defineKind, defineOperator, type KindOf, type Operator, requeueAfter, s } from 'coxswain'

export const Demo = defineKind({
  group: 'example.com',
  kind: 'Demo',
  versions: {
    v1: {
      spec: s.object({ name: s.string({ pattern: '^test$' }) }),
      status: s.object({ message: s.string().optional().doc('Why the clean-up is not done yet.') }),
      columns: { 'CR-Name': '.spec.name' },
    },
  },
})
export type Demo = KindOf<typeof Demo.v1>

export const finalizer = 'example.com/finalizer'

/** What a Demo has outside of the cluster: a DNS zone, a bucket, a licence server. */
export interface Outside {
  /** Deletes what belongs to a Demo; done when there is nothing (any more). */
  release(name: string, uid: string, signal: AbortSignal): Promise<void>
}

/** How long to leave an outside alone that failed. */
const retryDelay = 10_000

export function createDemoOperator(outside: Outside): Operator {
  return defineOperator('demo', operator => {
    const controller = operator.controller('demo').for(Demo.v1)
    controller.finalizer(finalizer, async ({ key, client, events, signal }) => {
      const demo = await client.get(Demo.v1, key)
      if (!demo) return
      try {
        await outside.release(demo.spec.name, demo.metadata.uid, signal)
        events.normal(demo, 'Released', `${demo.spec.name} was released`)
      } catch (error) {
        const message = `${demo.spec.name} cannot be released: ${(error as Error).message}`
        if (demo.status?.message !== message) {
          await client.updateStatus(Demo.v1, { ...demo, status: { message } })
          events.warning(demo, 'ReleaseFailed', message)
        }
        return requeueAfter(retryDelay)
      }
    })
    controller.reconcile(() => {}) // all there is to do is done at the end
  })
}

/** Asks a service by `DELETE URL/UID`; without a URL it is only logged. */
function createHttpOutside(url: string | undefined): Outside {
  return {
    async release(name, uid, signal) {
      if (url === undefined) return console.log(`released ${name} (${uid})`)
      const { ok, status } = await fetch(`${url}/${uid}`, { method: 'DELETE', signal })
      if (!ok && status !== 404) throw new Error(`${url} answers ${status}`)
    },
  }
}

export default createDemoOperator(createHttpOutside(process.env.OUTSIDE_URL))
