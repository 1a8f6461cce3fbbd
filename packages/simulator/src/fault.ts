/**
 * One thing that goes wrong, as data: it can be planned, combined, printed, and read from a file. Writes, reads and watch events of the
 * operator, Pods, and calls of webhooks and of outside services are counted from 1, over all replicas and restarts; events and
 * leases are not counted as writes.
 */
export type Fault =
  | {
      readonly fault: 'crash'
      readonly write: number
      readonly when: 'before' | 'after'
      readonly staleBy?: number
    }
  | { readonly fault: 'crash-in-flight'; readonly write: number; readonly ms: number }
  | { readonly fault: 'crash-read'; readonly read: number }
  | { readonly fault: 'lose-request' | 'lose-response' | 'duplicate'; readonly write: number }
  | { readonly fault: 'reject'; readonly write: number; readonly status: 409 | 429 | 500 | 503 | 504 }
  | {
      readonly fault: 'deny'
      readonly write: number
      readonly ms: number
      readonly why: 'quota' | 'rights' | 'terminating'
    }
  | { readonly fault: 'pause'; readonly write: number; readonly ms: number }
  | { readonly fault: 'lose-lease'; readonly write: number; readonly ms: number }
  | { readonly fault: 'clock-jump'; readonly write: number; readonly ms: number }
  | { readonly fault: 'clock-skew'; readonly ms: number }
  | { readonly fault: 'stale-watch'; readonly ms: number; readonly resource?: string }
  | { readonly fault: 'hide-events'; readonly resource: string; readonly event: number; readonly ms: number }
  | {
      readonly fault: 'bookmarks-only'
      readonly resource: string
      readonly event: number
      readonly ms: number
    }
  | { readonly fault: 'cut-watch'; readonly resource: string; readonly event: number }
  | { readonly fault: 'expire-watch'; readonly resource: string; readonly event: number }
  | {
      readonly fault: 'edit'
      readonly write: number
      readonly edit: 'annotate' | 'label' | 'finalizer' | 'delete'
    }
  | { readonly fault: 'terminate-namespace' | 'upgrade-definition'; readonly write: number }
  | {
      readonly fault: 'pod'
      readonly pod: number
      readonly becomes: 'slow' | 'crashed' | 'evicted' | 'never-ready'
    }
  | { readonly fault: 'lose-node'; readonly pod: number }
  | { readonly fault: 'webhook'; readonly call: number; readonly how: 'down' | 'slow' }
  | {
      readonly fault: 'service'
      readonly call: number
      readonly how: 'refuse' | 'lose-response' | 'fail' | 'hang'
    }

/** The name of a fault. */
export type FaultName = Fault['fault']

/** What each fault is, for `--help` and the documentation, in the order in which they are tried. */
export const faultTexts: Readonly<Record<FaultName, string>> = {
  crash:
    'the process is killed before or after a write, and another one starts two seconds later; with `staleBy` on an API server that lags behind',
  'lose-response': 'a write is done, and its response is lost',
  'stale-watch':
    'watch events are late, of one resource or of all: events of several kinds arrive in another order',
  reject: 'a write is answered 409, 429, 500, 503 or 504',
  'hide-events': 'a watch breaks and its history is compacted: what happened meanwhile is never seen',
  'crash-in-flight':
    'the process is killed after it has sent a write, which arrives when its successor already works',
  'crash-read': 'the process is killed while it waits for the response to a read',
  'lose-request': 'the connection breaks before a write was sent',
  duplicate: 'a write is delivered twice',
  edit: 'another client annotates, unlabels or deletes the object of a write, or adds a finalizer to it, right after the write',
  service: 'an outside service cannot be reached, fails, loses its response, or never responds',
  pod: 'a Pod is slow, crashes, is evicted, or never gets ready',
  'lose-node': 'the node of a Pod is deleted, and all Pods on it with it',
  deny: 'writes to a resource are forbidden for a while: a quota, missing rights, or a namespace that is terminating',
  'cut-watch': 'a watch breaks, and is opened again',
  'expire-watch': 'a watch ends with 410 Expired',
  'bookmarks-only': 'a watch sends only bookmarks for a while, then everything',
  pause:
    'the process stops right before a write, and continues later: with several replicas, when another one leads',
  'lose-lease': 'the leader cannot renew its lease for a while',
  'clock-jump': 'the clock of the process jumps',
  'clock-skew': 'the clock of the process is wrong from the start',
  webhook: 'a webhook of the operator cannot be reached, or responds too late',
  'upgrade-definition': 'the definition of the kind is updated with a new optional field',
  'terminate-namespace': 'the namespace of a write is deleted',
}

/** The names of all faults. */
export const faultNames: readonly FaultName[] = Object.keys(faultTexts) as FaultName[]

/** Whether the state may end elsewhere because of it: then only rest, restarts, deletion and invariants are checked. */
export function changesEnd(fault: Fault): boolean {
  switch (fault.fault) {
    case 'edit':
      return fault.edit !== 'annotate'
    case 'pod':
      return fault.becomes !== 'slow'
    case 'lose-node':
    case 'terminate-namespace':
    case 'clock-jump':
    case 'clock-skew':
      return true
    default:
      return false
  }
}

const seconds = (ms: number): string => `${ms / 1000} s`

/** The fault in a sentence, given the description of a write. */
export function describeFault(fault: Fault, describeWrite: (write: number) => string): string {
  switch (fault.fault) {
    case 'crash': {
      const stale =
        fault.staleBy === undefined
          ? ''
          : `, and its successor started with a cache that was ${fault.staleBy} write${fault.staleBy === 1 ? '' : 's'} behind`
      return `the process was killed ${fault.when} ${describeWrite(fault.write)}${stale}`
    }
    case 'crash-in-flight':
      return `the process was killed after it had sent ${describeWrite(fault.write)}, which arrived ${seconds(fault.ms)} later`
    case 'crash-read':
      return `the process was killed during its read ${fault.read}`
    case 'lose-request':
      return `the connection broke before ${describeWrite(fault.write)} was sent`
    case 'lose-response':
      return `${describeWrite(fault.write)} was done, but its response was lost`
    case 'duplicate':
      return `${describeWrite(fault.write)} was delivered twice`
    case 'reject':
      return `${describeWrite(fault.write)} was answered ${fault.status}`
    case 'deny':
      return `from ${describeWrite(fault.write)} on, writes to that resource were forbidden (${fault.why}) for ${seconds(fault.ms)}`
    case 'pause':
      return `the process was paused for ${seconds(fault.ms)} before ${describeWrite(fault.write)}`
    case 'lose-lease':
      return `the leader could not renew its lease for ${seconds(fault.ms)} from ${describeWrite(fault.write)} on`
    case 'clock-jump':
      return `the clock of the process jumped by ${seconds(fault.ms)} before ${describeWrite(fault.write)}`
    case 'clock-skew':
      return `the clock of the process was wrong by ${seconds(fault.ms)}`
    case 'stale-watch':
      return `watch events of ${fault.resource ?? 'all resources'} arrived ${fault.ms} ms late`
    case 'hide-events':
      return `the watch of ${fault.resource} broke before its event ${fault.event}, and the operator never saw what happened in the ${seconds(fault.ms)} after it`
    case 'bookmarks-only':
      return `the watch of ${fault.resource} sent only bookmarks for ${seconds(fault.ms)} from its event ${fault.event} on`
    case 'cut-watch':
      return `the watch of ${fault.resource} broke before its event ${fault.event}`
    case 'expire-watch':
      return `the watch of ${fault.resource} ended with 410 Expired before its event ${fault.event}`
    case 'edit':
      return `another client ${editTexts[fault.edit]} right after ${describeWrite(fault.write)}`
    case 'terminate-namespace':
      return `the namespace was deleted right after ${describeWrite(fault.write)}`
    case 'upgrade-definition':
      return `the definition of the kind was updated right after ${describeWrite(fault.write)}`
    case 'pod':
      return `Pod ${fault.pod} ${podTexts[fault.becomes]}`
    case 'lose-node':
      return `the node of Pod ${fault.pod} was deleted`
    case 'webhook':
      return `call ${fault.call} of a webhook ${fault.how === 'down' ? 'could not be delivered' : 'was answered too late'}`
    case 'service':
      return `call ${fault.call} of an outside service ${serviceTexts[fault.how]}`
  }
}

const editTexts = {
  annotate: 'annotated the object',
  label: 'removed the labels of the object',
  finalizer: 'added a finalizer to the object',
  delete: 'deleted the object',
}

const podTexts = {
  slow: 'took a minute to start',
  crashed: 'crashed',
  evicted: 'was evicted',
  'never-ready': 'never got ready',
}

const serviceTexts = {
  refuse: 'could not be delivered',
  'lose-response': 'was done, but its response was lost',
  fail: 'was answered 500',
  hang: 'was never answered',
}
