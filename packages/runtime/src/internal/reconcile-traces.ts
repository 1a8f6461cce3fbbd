import type { Kind } from '@coxswain/apimachinery/kinds'
import { formatGroupVersion, parseKey } from '@coxswain/apimachinery/meta'
import type { Span, SpanAttributes, Tracer } from '@coxswain/kit'
import type { ReconcileRecord } from '../reconcile-record.ts'
import type { Trigger } from '../trigger.ts'

interface Queued {
  readonly trigger: Trigger
  /** When the key was due because of it. */
  readonly due: number
}

/** The most triggers that one trace shows. */
const maxTriggers = 10

export interface ReconcileTracesOptions {
  readonly controller: string
  readonly kind: Kind | undefined
}

/**
 * The traces of one controller. A trace begins with the first event that leads to a reconcile:
 *
 *   process CONTROLLER       from that event to the end of the reconcile; its events are the triggers
 *   ├─ queue                 until a worker takes the key
 *   └─ reconcile CONTROLLER  the calls to API servers are its children
 */
export class ReconcileTraces {
  readonly #tracer: Tracer
  readonly #rootName: string
  readonly #reconcileName: string
  /** What every root has: samplers may decide by it. */
  readonly #attributes: SpanAttributes
  readonly #queued = new Map<string, Queued[]>()

  constructor(tracer: Tracer, { controller, kind }: ReconcileTracesOptions) {
    this.#tracer = tracer
    this.#rootName = `process ${controller}`
    this.#reconcileName = `reconcile ${controller}`
    this.#attributes = {
      'coxswain.controller': controller,
      ...(kind && { 'k8s.object.kind': kind.kind, 'k8s.object.api_version': formatGroupVersion(kind) }),
    }
  }

  /** A key was added to the queue, to be ready in `delay` milliseconds. */
  queued(key: string, trigger: Trigger, delay: number): void {
    const entry = { trigger, due: this.#tracer.now() + delay }
    const entries = this.#queued.get(key)
    if (!entries) this.#queued.set(key, [entry])
    else if (entries.length < maxTriggers) entries.push(entry)
    else entries[maxTriggers - 1] = entry
  }

  /** A worker has taken the key. */
  begin(key: string): ReconcileTrace {
    const entries = this.#queued.get(key) ?? []
    this.#queued.delete(key)
    const now = this.#tracer.now()
    let startTime = now
    for (const { due } of entries) if (due < startTime) startTime = due
    const root = this.#tracer.startSpan(this.#rootName, {
      parent: 'none',
      attributes: this.#attributes,
      startTime,
    })
    if (!root.isRecording) return new ReconcileTrace(root, root)
    const { namespace, name } = parseKey(key)
    root.setAttributes({ ...(namespace && { 'k8s.namespace.name': namespace }), 'k8s.object.name': name })
    for (const { trigger, due } of entries) {
      const { type, object, resourceVersion } = trigger
      // What was to come later, and has been overtaken, is no reason any more.
      if (due > now) continue
      root.addEvent(
        object === undefined ? type : 'watch event',
        {
          'coxswain.trigger': type,
          'coxswain.trigger.object': object,
          'coxswain.trigger.resource_version': resourceVersion,
        },
        due,
      )
    }
    this.#tracer.startSpan('queue', { parent: root, startTime }).end(now)
    return new ReconcileTrace(root, this.#tracer.startSpan(this.#reconcileName, { parent: root }))
  }
}

/** One reconcile in its trace. */
export class ReconcileTrace {
  readonly #root: Span
  /** The span of the reconcile itself. */
  readonly span: Span

  constructor(root: Span, span: Span) {
    this.#root = root
    this.span = span
  }

  end({ result, error, failures }: Pick<ReconcileRecord, 'result' | 'error' | 'failures'>): void {
    const { span } = this
    if (!span.isRecording) return void span.end()
    span.setAttributes({ 'coxswain.reconcile.result': result, 'coxswain.reconcile.failures': failures })
    if (error !== undefined) span.fail(error)
    span.end()
    if (error !== undefined) this.#root.fail()
    this.#root.end()
  }
}
