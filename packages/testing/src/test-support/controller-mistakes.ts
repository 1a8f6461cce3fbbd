/** Planted mistakes in a controller. Each has to be found by the scenarios it names. */
export interface Mistake {
  readonly name: string
  /** Below `packages/`. */
  readonly file: string
  /** What is right, which is there once, and what stands there instead. */
  readonly edits: readonly (readonly [right: string, wrong: string])[]
  /** The test file in which a scenario has to fail, below `packages/` and without its ending, and the scenario. */
  readonly suite: string
  readonly scenario: string
  /** It shows only when the right thing goes wrong: everything is tried, and `npm test` leaves it out. @default false */
  readonly needsTorture?: boolean
}

export const mistakes: readonly Mistake[] = [
  {
    name: 'a controller that does not look again after a conflict',
    file: 'runtime/src/controller.ts',
    edits: [
      [
        'if (isProgrammingError(error)) metrics.panicked()',
        "if (isConflict(error)) return { result: 'success' }",
      ],
    ],
    suite: 'controllers/src/persistent-volume/persistent-volumes',
    scenario: 'a claim is bound to the smallest volume that matches',
    needsTorture: true,
  },
  {
    name: 'a controller that forgets what it has just created',
    file: 'runtime/src/own-writes.ts',
    edits: [['if (isAhead(written, cached, progress)) return', 'if (progress.epoch < 0) return']],
    suite: 'controllers/src/replica-set/replica-set-scenarios',
    scenario: 'create each pod once, however stale their caches are',
  },
  {
    name: 'a job controller that lets go of pods before it has listed them',
    file: 'controllers/src/job/tracking.ts',
    edits: [['  await flush()\n  onWritten()\n', '  onWritten()\n']],
    suite: 'controllers/src/job/jobs',
    scenario: 'several completions with limited parallelism',
    needsTorture: true,
  },
  {
    name: 'a job controller that lists a pod again which it had listed when it died',
    file: 'controllers/src/job/tracking.ts',
    edits: [['if (!indexes && !uncounted.succeeded.includes(uid))', 'if (!indexes)']],
    suite: 'controllers/src/job/jobs',
    scenario: 'several completions with limited parallelism',
    needsTorture: true,
  },
  {
    name: 'a cron job controller whose jobs have another name at each try',
    file: 'controllers/src/cron-job/jobs-of.ts',
    edits: [['name: jobNameAt(cronJob, time),', "generateName: 'tick-',"]],
    suite: 'controllers/src/cron-job/cron-jobs',
    scenario: 'jobs run concurrently',
    needsTorture: true,
  },
  {
    name: 'a taint controller that hears of changes only',
    file: 'controllers/src/taint-eviction/taint-eviction-controller.ts',
    edits: [
      [
        "  event.type !== 'update' ||\n  event.old.spec.nodeName",
        "  event.type === 'update' &&\n  event.old.spec.nodeName",
      ],
      ["event.type !== 'update' || !deepEqual(evicting", "event.type === 'update' && !deepEqual(evicting"],
    ],
    suite: 'controllers/src/pod-gc/pod-clean-up',
    scenario: 'evicts pods that do not tolerate a taint, at once or after a while',
    needsTorture: true,
  },
  {
    name: 'a range allocator that knows only what it gave out itself',
    file: 'controllers/src/node-ipam/node-ipam-controller.ts',
    edits: [
      [
        '...items.flatMap(({ spec }) => parseRanges(spec?.podCIDRs ?? []))',
        '...parseRanges(items.length < 0 ? [] : [])',
      ],
    ],
    suite: 'controllers/src/node-housekeeping',
    scenario: 'are allocated from the cluster CIDR, each once',
  },
  {
    name: 'a node controller that writes taints whether they changed or not',
    file: 'controllers/src/node-lifecycle/node-lifecycle-controller.ts',
    edits: [['if (!deepEqual(desired, present)) {', 'if (desired !== present) {']],
    suite: 'controllers/src/node-lifecycle/node-lifecycle',
    scenario: 'that are ready lose their initial taint',
  },
  {
    name: 'a load balancer that is made before the finalizer that remembers it',
    file: 'controllers/src/cloud/service-lb-controller.ts',
    edits: [
      [
        '  if (!hasCleanup(service)) {\n    const metadata = { uid: service.metadata.uid, finalizers',
        '  const remember = async () => {\n    const metadata = { uid: service.metadata.uid, finalizers',
      ],
      [
        "  events.normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer')\n",
        "  events.normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer')\n  if (!hasCleanup(service)) await remember()\n",
      ],
    ],
    suite: 'controllers/src/cloud/cloud',
    scenario: 'that are deleted at once leave no load balancer behind',
    needsTorture: true,
  },
  {
    name: 'a scheduler that does not try a pod again when something went wrong',
    file: 'scheduler/src/scheduler.ts',
    edits: [
      [
        '    this.#queue.failed(uid, rejectedBy, pending)\n',
        '    if (rejectedBy.length > 0) this.#queue.failed(uid, rejectedBy, pending)\n',
      ],
    ],
    suite: 'scheduler/src/scheduling-volumes',
    scenario: 'VolumeBinding',
  },
]
