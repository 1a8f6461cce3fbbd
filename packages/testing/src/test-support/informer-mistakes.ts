import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { ListerWatcher } from '@coxswain/informers'
import { applyDelta, type InformerParts, transition } from '@coxswain/informers/parts'

/** An informer with a bug in it. */
export interface Planted {
  readonly parts?: Partial<InformerParts>
  readonly source?: (genuine: ListerWatcher<ApiObject>) => ListerWatcher<ApiObject>
}

/** Planted mistakes. Each has to be found by the torture test. */
export const mistakes: Readonly<Record<string, Planted>> = {
  'keeps watching from an expired resourceVersion': {
    parts: {
      transition: (state, outcome) =>
        outcome.type === 'failed' && outcome.failure === 'expired' && state.phase === 'watching'
          ? { state, pause: true }
          : transition(state, outcome),
    },
  },
  'gives up after an error that is not a 410': {
    parts: {
      transition: (state, outcome) => {
        if (outcome.type === 'failed' && outcome.failure === 'other') throw new Error('watch failed')
        return transition(state, outcome)
      },
    },
  },
  'does not wait between tries': {
    parts: { transition: (state, outcome) => ({ ...transition(state, outcome), pause: false }) },
  },
  'resumes from the present instead of from where it was': {
    parts: {
      transition: (state, outcome) => {
        const next = transition(state, outcome)
        return next.state.phase === 'watching' ? { ...next, state: { ...next.state, known: '' } } : next
      },
    },
  },
  'resumes one event too late': {
    parts: {
      transition: (state, outcome) => {
        const next = transition(state, outcome)
        if (next.state.phase !== 'watching') return next
        return { ...next, state: { ...next.state, known: String(Number(next.state.known) + 1) } }
      },
    },
  },
  'keeps asking for a resourceVersion the server does not have': {
    parts: {
      transition: (state, outcome) => {
        const next = transition(state, outcome)
        return 'from' in next.state ? { ...next, state: { ...next.state, from: '999999' } } : next
      },
    },
  },
  'does not notice deletions on a relist': {
    parts: {
      applyDelta: (store, delta) =>
        delta.type === 'Replaced'
          ? delta.objects.flatMap(object => applyDelta(store, { type: 'Updated', object }))
          : applyDelta(store, delta),
    },
  },
  'replaces the store on a relist without telling handlers': {
    parts: {
      applyDelta: (store, delta) => {
        const notifications = applyDelta(store, delta)
        return delta.type === 'Replaced' && store.size > 0 ? [] : notifications
      },
    },
  },
  'shows every object as new after a relist': {
    parts: {
      applyDelta: (store, delta) => {
        if (delta.type !== 'Replaced') return applyDelta(store, delta)
        applyDelta(store, delta)
        return store.list().map(object => ({ type: 'added', object }))
      },
    },
  },
  'takes another object of the same name for the same one': {
    parts: {
      applyDelta: (store, delta) => {
        const notifications = applyDelta(store, delta)
        const [first, second] = notifications
        return notifications.length === 2 && first?.type === 'deleted' && second?.type === 'added'
          ? [{ type: 'updated', old: first.object, object: second.object }]
          : notifications
      },
    },
  },
  'drops deletions': {
    parts: { applyDelta: (store, delta) => (delta.type === 'Deleted' ? [] : applyDelta(store, delta)) },
  },
  'sets the store right and keeps the last change of an object to itself': {
    parts: {
      applyDelta: (store, delta) =>
        applyDelta(store, delta).filter(({ type }) => delta.type === 'Replaced' || type !== 'updated'),
    },
  },
  'reads the first page only': {
    source: genuine => ({
      watch: (query, signal) => genuine.watch(query, signal),
      list: async (query, signal) => {
        const page = await genuine.list({ ...query, limit: 2 }, signal)
        delete page.metadata.continue
        return page
      },
    }),
  },
  'leaves the old watch open when it starts a new one': {
    source: genuine => ({
      list: (query, signal) => genuine.list(query, signal),
      watch: query => genuine.watch(query, new AbortController().signal),
    }),
  },
  'takes a broken watch-list for a complete one': {
    source: genuine => ({
      list: (query, signal) => genuine.list(query, signal),
      async *watch(query, signal) {
        let last: string | undefined
        try {
          for await (const event of genuine.watch(query, signal)) {
            last = event.object.metadata.resourceVersion
            yield event
          }
        } catch (error) {
          if (!query.sendInitialEvents || last === undefined) throw error
          const metadata = {
            resourceVersion: last,
            annotations: { 'k8s.io/initial-events-end': 'true' },
          }
          yield { type: 'BOOKMARK', object: { metadata } }
        }
      },
    }),
  },
  'skips what it could not read': {
    source: genuine => ({
      list: (query, signal) => genuine.list(query, signal),
      async *watch(query, signal) {
        let last = query.resourceVersion
        try {
          for await (const event of genuine.watch(query, signal)) {
            last = event.object.metadata.resourceVersion
            yield event
          }
        } catch {
          const resourceVersion = String(Number(last) + 5)
          yield { type: 'BOOKMARK', object: { metadata: { resourceVersion } } }
        }
      },
    }),
  },
}
