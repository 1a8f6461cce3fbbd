import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Job, type JobSpec } from '@coxswain/api/batch/v1'
import { Event, Pod } from '@coxswain/api/core/v1'
import { createJobController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { createScriptedKubelet, type Script } from '@coxswain/testing/test-support/scripted-kubelet'

const namespace = 'default'
const key = { namespace, name: 'work' }
const indexName = 'batch.kubernetes.io/job-completion-index'

type Spec = Partial<JobSpec> & { readonly restartPolicy?: string }

function createJob(cluster: Cluster, { restartPolicy = 'Never', ...spec }: Spec): Promise<unknown> {
  const template = {
    spec: { restartPolicy, nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
  }
  return cluster.run(cluster.client.create(Job, { metadata: key, spec: { template, ...spec } } as never))
}

const patchJob = (cluster: Cluster, spec: object) =>
  cluster.run(cluster.client.patch(Job, key, { spec }, { type: 'merge' }))

const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items

/** A job's status without times, conditions in words, and the number of pods per phase. */
async function look(cluster: Cluster) {
  const job = await cluster.run(cluster.client.get(Job, key))
  const pods = await podsOf(cluster)
  const phases: Record<string, number> = {}
  for (const { status, metadata } of pods) {
    const held = metadata.finalizers?.length ? ' held' : ''
    const phase = `${status?.phase}${held}`
    phases[phase] = (phases[phase] ?? 0) + 1
  }
  const { conditions = [], startTime: _, completionTime, ...counts } = job?.status ?? {}
  return {
    ...counts,
    conditions: conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    isComplete: completionTime !== undefined,
    phases,
  }
}

const done = { ready: 0, terminating: 0, uncountedTerminatedPods: {} }
const complete = {
  ...done,
  conditions: ['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'],
  isComplete: true,
}
const failedWith = (reason: string) => ({
  ...done,
  conditions: [`FailureTarget=True ${reason}`, `Failed=True ${reason}`],
  isComplete: false,
})

interface Scenario {
  readonly name: string
  readonly spec: Spec
  readonly script?: Script
  readonly act?: (cluster: Cluster) => Promise<void>
  /** Milliseconds until it finishes. */
  readonly ms?: number
  readonly end: object
}

const succeeds: Script = () => 0
const fails: Script = () => 1
const runs: Script = () => 'runs'
const indexOf = (pod: { metadata: { annotations?: Readonly<Record<string, string>> } }) =>
  Number(pod.metadata.annotations?.[indexName])

const scenarios: readonly Scenario[] = [
  {
    name: 'one pod that succeeds completes a job',
    spec: {},
    end: { ...complete, succeeded: 1, phases: { Succeeded: 1 } },
  },
  {
    name: 'several completions with limited parallelism',
    spec: { completions: 5, parallelism: 2 },
    ms: 60_000,
    end: { ...complete, succeeded: 5, phases: { Succeeded: 5 } },
  },
  {
    name: 'a work queue is done when one pod has succeeded and the others have finished',
    spec: { parallelism: 3 },
    end: { ...complete, succeeded: 3, phases: { Succeeded: 3 } },
  },
  {
    name: 'a work queue in which one succeeds and another fails adds no pods',
    spec: { parallelism: 2 },
    script: (_, nth) => nth,
    end: { ...complete, succeeded: 1, failed: 1, phases: { Succeeded: 1, Failed: 1 } },
  },
  {
    name: 'zero completions',
    spec: { completions: 0 },
    end: { ...complete, phases: {} },
  },
  {
    name: 'a failed pod is replaced after a back-off',
    spec: { backoffLimit: 3 },
    script: (_, nth) => (nth < 2 ? 1 : 0),
    ms: 120_000,
    end: { ...complete, succeeded: 1, failed: 2, phases: { Succeeded: 1, Failed: 2 } },
  },
  {
    name: 'too many failures fail the job',
    spec: { backoffLimit: 1 },
    script: fails,
    ms: 120_000,
    end: { ...failedWith('BackoffLimitExceeded'), failed: 2, phases: { Failed: 2 } },
  },
  {
    name: 'a job that fails deletes its running pods, and they count as failed',
    spec: { backoffLimit: 0, parallelism: 3, completions: 3 },
    script: (_, nth) => (nth === 0 ? 1 : 'runs'),
    end: { ...failedWith('BackoffLimitExceeded'), failed: 3, phases: { Failed: 1 } },
  },
  {
    name: 'a deadline ends a job',
    spec: { activeDeadlineSeconds: 20 },
    script: runs,
    ms: 40_000,
    end: { ...failedWith('DeadlineExceeded'), failed: 1, phases: {} },
  },
  {
    name: 'every index succeeds once',
    spec: { completionMode: 'Indexed', completions: 4, parallelism: 3 },
    ms: 60_000,
    end: { ...complete, succeeded: 4, completedIndexes: '0-3', phases: { Succeeded: 4 } },
  },
  {
    name: 'a failed index is retried',
    spec: { completionMode: 'Indexed', completions: 3, parallelism: 3 },
    script: (pod, nth) => (indexOf(pod) === 1 && nth < 3 ? 1 : 0),
    ms: 60_000,
    end: {
      ...complete,
      succeeded: 3,
      failed: 1,
      completedIndexes: '0-2',
      phases: { Succeeded: 3, Failed: 1 },
    },
  },
  {
    name: 'with a limit per index the others continue when one has failed',
    spec: { completionMode: 'Indexed', completions: 4, parallelism: 4, backoffLimitPerIndex: 1 },
    script: pod => (indexOf(pod) === 2 ? 1 : 0),
    ms: 120_000,
    end: {
      ...failedWith('FailedIndexes'),
      succeeded: 3,
      failed: 2,
      completedIndexes: '0,1,3',
      failedIndexes: '2',
      phases: { Succeeded: 3, Failed: 2 },
    },
  },
  {
    name: 'an index with a limit of its own succeeds at the second attempt',
    spec: { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 2 },
    script: (pod, nth) => (indexOf(pod) === 0 && nth < 2 ? 1 : 0),
    ms: 120_000,
    end: {
      ...complete,
      succeeded: 2,
      failed: 1,
      completedIndexes: '0,1',
      failedIndexes: '',
      phases: { Succeeded: 2, Failed: 1 },
    },
  },
  {
    name: 'too many failed indexes fail the job',
    spec: {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 0,
    },
    script: pod => (indexOf(pod) === 0 ? 1 : 'runs'),
    end: {
      ...failedWith('MaxFailedIndexesExceeded'),
      failed: 4,
      failedIndexes: '0',
      phases: { Failed: 1 },
    },
  },
  {
    name: 'a success policy ends a job when the leader has succeeded',
    spec: {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
    },
    script: pod => (indexOf(pod) === 0 ? 0 : 'runs'),
    end: {
      ...done,
      conditions: ['SuccessCriteriaMet=True SuccessPolicy', 'Complete=True SuccessPolicy'],
      isComplete: true,
      succeeded: 1,
      completedIndexes: '0',
      phases: { Succeeded: 1 },
    },
  },
  {
    name: 'a success policy counts successes',
    spec: {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      successPolicy: { rules: [{ succeededIndexes: '1-3', succeededCount: 2 }] },
    },
    script: pod => (indexOf(pod) > 1 ? 0 : 'runs'),
    end: {
      ...done,
      conditions: ['SuccessCriteriaMet=True SuccessPolicy', 'Complete=True SuccessPolicy'],
      isComplete: true,
      succeeded: 2,
      completedIndexes: '2,3',
      phases: { Succeeded: 2 },
    },
  },
  {
    name: 'an exit code that the failure policy names fails the job at once',
    spec: {
      backoffLimit: 5,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
    },
    script: () => 42,
    end: { ...failedWith('PodFailurePolicy'), failed: 1, phases: { Failed: 1 } },
  },
  {
    name: 'failures that the policy ignores do not count',
    spec: {
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42] } }] },
    },
    script: (_, nth) => (nth < 2 ? 42 : 0),
    ms: 120_000,
    end: { ...complete, succeeded: 1, phases: { Succeeded: 1, Failed: 2 } },
  },
  {
    name: 'an exit code that fails its index',
    spec: {
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      backoffLimitPerIndex: 5,
      podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [1] } }] },
    },
    script: pod => (indexOf(pod) === 1 ? 42 : 0),
    end: {
      ...failedWith('FailedIndexes'),
      succeeded: 1,
      failed: 1,
      completedIndexes: '0',
      failedIndexes: '1',
      phases: { Succeeded: 1, Failed: 1 },
    },
  },
  {
    name: 'a suspended job has no pods',
    spec: { suspend: true },
    end: { ...done, conditions: ['Suspended=True JobSuspended'], isComplete: false, phases: {} },
  },
  {
    name: 'a job that is suspended deletes its pods, which do not count as failures',
    spec: { parallelism: 2, completions: 2 },
    script: runs,
    act: async cluster => {
      await cluster.advance(5_000)
      await patchJob(cluster, { suspend: true })
    },
    end: { ...done, conditions: ['Suspended=True JobSuspended'], isComplete: false, phases: {} },
  },
  {
    name: 'a job continues when it is resumed',
    spec: { suspend: true },
    act: async cluster => {
      await cluster.advance(5_000)
      await patchJob(cluster, { suspend: false })
    },
    end: {
      ...complete,
      conditions: ['Suspended=False JobResumed', ...complete.conditions],
      succeeded: 1,
      phases: { Succeeded: 1 },
    },
  },
  {
    name: 'pods beyond the parallelism are deleted without being counted',
    spec: { parallelism: 3, completions: 6 },
    script: runs,
    act: async cluster => {
      await cluster.advance(5_000)
      await patchJob(cluster, { parallelism: 1 })
    },
    end: { ...done, ready: 1, active: 1, conditions: [], isComplete: false, phases: { 'Running held': 1 } },
  },
  {
    name: 'a deleted pod counts as failed and is replaced',
    spec: {},
    script: (_, nth) => (nth === 0 ? 'runs' : 0),
    act: async cluster => {
      await cluster.advance(5_000)
      const [pod] = await podsOf(cluster)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: pod!.metadata.name }))
    },
    ms: 60_000,
    end: { ...complete, succeeded: 1, failed: 1, phases: { Succeeded: 1 } },
  },
  {
    name: 'the indexes of an elastic job can be reduced',
    spec: { completionMode: 'Indexed', completions: 4, parallelism: 4 },
    script: pod => (indexOf(pod) < 2 ? 0 : 'runs'),
    act: async cluster => {
      await cluster.advance(12_000)
      await patchJob(cluster, { completions: 2, parallelism: 2 })
    },
    end: { ...complete, succeeded: 2, completedIndexes: '0,1', phases: { Succeeded: 2 } },
  },
  {
    name: 'container restarts count with restart policy OnFailure',
    spec: { restartPolicy: 'OnFailure', backoffLimit: 2 },
    script: runs,
    act: async cluster => {
      await cluster.advance(5_000)
      const [pod] = await podsOf(cluster)
      const [container] = pod!.status!.containerStatuses!
      const status = { containerStatuses: [{ ...container, restartCount: 2 }] }
      const of = { namespace, name: pod!.metadata.name }
      await cluster.run(
        cluster.client.patch(Pod, of, { status }, { type: 'strategic', subresource: 'status' }),
      )
    },
    end: { ...failedWith('BackoffLimitExceeded'), failed: 1, phases: {} },
  },
  {
    name: 'a job of another controller is left alone',
    spec: { managedBy: 'example.com/other' },
    act: async cluster => {
      // Causes a write.
      const other = { metadata: { name: 'other', namespace }, spec: { completions: 0 } }
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
      await cluster.run(cluster.client.create(Job, { ...other, spec: { ...other.spec, template } } as never))
    },
    end: { conditions: [], isComplete: false, phases: {} },
  },
]

describe('Jobs, also with conflicts, stale caches and the controller killed between its writes', () => {
  const scenario = scenariosOf('job-controller', { controllers: () => [createJobController()] })

  for (const { name, spec, script = succeeds, act, ms = 20_000, end } of scenarios)
    scenario(name, {
      others: () => [createScriptedKubelet(script)],
      act: async cluster => {
        await createJob(cluster, spec)
        await act?.(cluster)
        await cluster.advance(ms)
      },
      look,
      end,
    })

  for (const [propagationPolicy, end] of [
    ['Background', { job: false, pods: [] }],
    ['Foreground', { job: false, pods: [] }],
    ['Orphan', { job: false, pods: ['Running', 'Running'] }],
  ] as const)
    scenario(`removes the finalizer of the pods of a deleted job: ${propagationPolicy}`, {
      others: () => [createScriptedKubelet(runs)],
      act: async cluster => {
        await createJob(cluster, { parallelism: 2, completions: 2 })
        await cluster.advance(5_000)
        await cluster.run(cluster.client.delete(Job, key, { propagationPolicy }))
        await cluster.advance(60_000)
      },
      look: async cluster => ({
        job: (await cluster.run(cluster.client.get(Job, key))) !== undefined,
        pods: (await podsOf(cluster)).map(
          ({ metadata, status }) => `${status?.phase}${metadata.finalizers?.length ? ' held' : ''}`,
        ),
      }),
      end,
    })
})

async function withJobs(script: Script, body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
  cluster.start(createJobController())
  cluster.start(createScriptedKubelet(script))
  await cluster.advance(1_000)
  await body(cluster)
}

const eventsOf = async (cluster: Cluster) => {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  return items.map(({ type, reason, message }) => `${type} ${reason} ${message}`)
}

describe('Jobs', () => {
  it('record events', async () => {
    await withJobs(succeeds, async cluster => {
      await createJob(cluster, {})
      await cluster.advance(20_000)
      const events = await eventsOf(cluster)
      assert.match(events[0]!, /^Normal SuccessfulCreate Created pod: work-/)
      assert.deepEqual(events.slice(1), ['Normal Completed Job completed'])
    })
  })

  it('record an event that says why they failed', async () => {
    await withJobs(
      () => 42,
      async cluster => {
        await createJob(cluster, {
          podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
        })
        await cluster.advance(20_000)
        const [pod] = await podsOf(cluster)
        const because = `Container c for pod default/${pod!.metadata.name} failed with exit code 42 matching FailJob rule at index 0`
        assert.ok((await eventsOf(cluster)).includes(`Warning PodFailurePolicy ${because}`))
        const job = await cluster.run(cluster.client.get(Job, key))
        assert.equal(job?.status?.conditions?.[1]?.message, because)
      },
    )
  })

  it('wait ten seconds after a failure, and twice as long after the next', async () => {
    await withJobs(fails, async cluster => {
      await createJob(cluster, {})
      await cluster.advance(120_000)
      const pods = await podsOf(cluster)
      const starts = pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp!) / 1_000).sort()
      const pauses = starts.slice(1).map((start, index) => start - starts[index]!)
      // Five seconds of each are the pod's run time.
      assert.ok(pauses[0]! >= 15 && pauses[0]! <= 17, `${pauses}`)
      assert.ok(pauses[1]! >= 25 && pauses[1]! <= 27, `${pauses}`)
      assert.ok(pauses[2]! >= 45 && pauses[2]! <= 47, `${pauses}`)
    })
  })

  it('pass pods their index', async () => {
    await withJobs(runs, async cluster => {
      await createJob(cluster, {
        completionMode: 'Indexed',
        completions: 2,
        parallelism: 2,
        backoffLimitPerIndex: 1,
      })
      await cluster.advance(5_000)
      const pods = (await podsOf(cluster)).sort((a, b) => indexOf(a) - indexOf(b))
      assert.deepEqual(
        pods.map(({ metadata, spec }) => [
          metadata.name.replace(/[^-]+$/, ''),
          metadata.labels?.[indexName],
          metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'],
          spec.hostname,
          spec.containers[0]?.env?.[0]?.name,
          metadata.finalizers,
        ]),
        [0, 1].map(index => [
          `work-${index}-`,
          `${index}`,
          '0',
          `work-${index}`,
          'JOB_COMPLETION_INDEX',
          ['batch.kubernetes.io/job-tracking'],
        ]),
      )
    })
  })

  it('replace a terminating pod at once, or with the Failed policy only when it has failed', async () => {
    for (const [podReplacementPolicy, expected] of [
      ['TerminatingOrFailed', 2],
      ['Failed', 1],
    ] as const) {
      await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
      cluster.start(createJobController())
      cluster.start(createScriptedKubelet(runs, { stopTime: 60_000 }))
      await createJob(cluster, { podReplacementPolicy })
      await cluster.advance(5_000)
      const [pod] = await podsOf(cluster)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: pod!.metadata.name }))
      await cluster.advance(20_000)
      assert.equal((await podsOf(cluster)).length, expected, podReplacementPolicy)
      const job = await cluster.run(cluster.client.get(Job, key))
      assert.equal(job?.status?.terminating, 1, podReplacementPolicy)
    }
  })

  it('adopt pods that they select instead of creating new ones', async () => {
    await withJobs(runs, async cluster => {
      const spec = {
        restartPolicy: 'Never',
        nodeName: 'node-a',
        containers: [{ name: 'c', image: 'i' }],
      } as const
      const metadata = { name: 'stray', namespace, labels: { app: 'work' } }
      await cluster.run(cluster.client.create(Pod, { metadata, spec }))
      await createJob(cluster, {
        manualSelector: true,
        selector: { matchLabels: { app: 'work' } },
        template: { metadata: { labels: { app: 'work' } }, spec },
      } as never)
      await cluster.advance(5_000)
      const pod = await cluster.run(cluster.client.get(Pod, { namespace, name: 'stray' }))
      assert.equal(pod?.metadata.ownerReferences?.[0]?.name, 'work')
      assert.deepEqual(pod?.metadata.finalizers, ['batch.kubernetes.io/job-tracking'])
      assert.equal((await podsOf(cluster)).length, 1)
    })
  })
})
