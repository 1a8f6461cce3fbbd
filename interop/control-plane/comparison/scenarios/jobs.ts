import { CronJob, Job } from '@coxswain/api/batch/v1'
import { Pod } from '@coxswain/api/core/v1'
import type { Script } from '../scripted-pods.ts'
import type { Scenario, Stage } from '../stage.ts'

const succeeds: Script = () => 0
const fails: Script = () => 1
const indexOf: (pod: Parameters<Script>[0]) => number = ({ metadata }) =>
  Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'])

const template = (restartPolicy = 'Never') => ({
  spec: { restartPolicy, nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
})
const create = (stage: Stage, spec: object = {}) =>
  stage.create(Job, 'work', { spec: { template: template(), ...spec } })
const patch = (stage: Stage, spec: object) => stage.patch(Job, 'work', { spec })
const isFinished = (job: Job | undefined) =>
  job?.status?.conditions?.some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  )
const finished = (stage: Stage) =>
  stage.until('it has finished', async () => isFinished(await stage.get(Job, 'work')))
const active = (stage: Stage, count: number) =>
  stage.until(`${count} are active`, async () => {
    const { active: now = 0, ready = 0 } = (await stage.get(Job, 'work'))?.status ?? {}
    return now === count && ready === count
  })
const play = (name: string, spec: object, script: Script = succeeds): Scenario => ({
  name,
  script,
  act: async stage => {
    await create(stage, spec)
    await finished(stage)
  },
})
const exitCode = (action: string, values: readonly number[], operator = 'In') => ({
  rules: [{ action, onExitCodes: { operator, values } }],
})
const gone = (stage: Stage) => stage.until('gone', async () => (await stage.get(Job, 'work')) === undefined)
const deleted = (propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Scenario => ({
  name: `is deleted: ${propagationPolicy}`,
  act: async stage => {
    await create(stage, { parallelism: 2, completions: 2 })
    await active(stage, 2)
    await stage.remove(Job, 'work', { propagationPolicy })
    await gone(stage)
    if (propagationPolicy !== 'Orphan')
      await stage.until('no pods', async () => (await stage.list(Pod)).length === 0)
  },
})

export const jobScenarios: readonly Scenario[] = [
  play('one pod that succeeds', {}),
  play('several completions, a few at a time', { completions: 5, parallelism: 2 }),
  play('a work queue', { parallelism: 3 }),
  play('a work queue in which one fails', { parallelism: 2 }, (_, nth) => nth),
  play('no completions wanted', { completions: 0 }),
  play('a failed pod is replaced', { backoffLimit: 3 }, (_, nth) => (nth === 0 ? 1 : 0)),
  play('too many failures', { backoffLimit: 0 }, fails),
  play('too many failures at the second try', { backoffLimit: 1 }, fails),
  play('a failure stops the pods that run', { backoffLimit: 0, parallelism: 3, completions: 3 }, (_, nth) =>
    nth === 0 ? 1 : 'ready',
  ),
  play('a deadline', { activeDeadlineSeconds: 4 }, () => 'ready'),
  play('every index succeeds', { completionMode: 'Indexed', completions: 4, parallelism: 3 }),
  play(
    'an index is tried again',
    { completionMode: 'Indexed', completions: 2, parallelism: 2 },
    (pod, nth) => (indexOf(pod) === 1 && nth < 2 ? 1 : 0),
  ),
  play(
    'a limit per index: the others go on',
    { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0 },
    pod => (indexOf(pod) === 1 ? 1 : 0),
  ),
  play(
    'a limit per index: the second try',
    { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 },
    (pod, nth) => (indexOf(pod) === 1 && nth < 2 ? 1 : 0),
  ),
  play(
    'too many failed indexes',
    {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 1,
    },
    pod => (indexOf(pod) < 2 ? 1 : 'ready'),
  ),
  play(
    'a success policy: the leader has succeeded',
    {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
    },
    pod => (indexOf(pod) === 0 ? 0 : 'ready'),
  ),
  play(
    'a success policy counts',
    {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededCount: 2 }] },
    },
    pod => (indexOf(pod) < 2 ? 0 : 'ready'),
  ),
  play('a failure policy fails the job', { podFailurePolicy: exitCode('FailJob', [42]) }, () => 42),
  play(
    'a failure policy ignores',
    { backoffLimit: 0, podFailurePolicy: exitCode('Ignore', [42]) },
    (_, nth) => (nth === 0 ? 42 : 0),
  ),
  play(
    'a failure policy counts',
    { backoffLimit: 0, podFailurePolicy: exitCode('Count', [42], 'NotIn') },
    fails,
  ),
  play(
    'a failure policy gives up an index',
    {
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      backoffLimitPerIndex: 3,
      podFailurePolicy: exitCode('FailIndex', [42]),
    },
    pod => (indexOf(pod) === 0 ? 42 : 0),
  ),
  { name: 'suspended from the beginning', act: stage => create(stage, { suspend: true }) },
  {
    name: 'suspended later',
    act: async stage => {
      await create(stage, { parallelism: 2, completions: 2 })
      await active(stage, 2)
      await patch(stage, { suspend: true })
      await stage.until('no pods', async () => (await stage.list(Pod)).length === 0)
    },
  },
  {
    name: 'suspended and resumed',
    script: succeeds,
    act: async stage => {
      await create(stage, { suspend: true })
      await stage.settle()
      await patch(stage, { suspend: false })
      await finished(stage)
    },
  },
  {
    name: 'more at a time',
    act: async stage => {
      await create(stage, { parallelism: 1, completions: 4 })
      await active(stage, 1)
      await patch(stage, { parallelism: 3 })
      await active(stage, 3)
    },
  },
  {
    name: 'fewer at a time',
    act: async stage => {
      await create(stage, { parallelism: 3, completions: 4 })
      await active(stage, 3)
      await patch(stage, { parallelism: 1 })
      await active(stage, 1)
      await stage.until('the others are deleted', async () => (await stage.list(Pod)).length === 1)
    },
  },
  {
    name: 'fewer indexes',
    act: async stage => {
      await create(stage, { completionMode: 'Indexed', parallelism: 3, completions: 3 })
      await active(stage, 3)
      await patch(stage, { parallelism: 2, completions: 2 })
      await stage.until('one is deleted', async () => (await stage.list(Pod)).length === 2)
    },
  },
  {
    name: 'a pod that is deleted is replaced',
    act: async stage => {
      await create(stage)
      await active(stage, 1)
      const [pod] = await stage.list(Pod)
      await stage.remove(Pod, pod!.metadata.name)
      await stage.until('it is deleted', async () => (await stage.get(Pod, pod!.metadata.name)) === undefined)
      await active(stage, 1)
    },
  },
  {
    name: 'a pod that is deleted is replaced only when it has ended',
    act: async stage => {
      await create(stage, { podReplacementPolicy: 'Failed' })
      await active(stage, 1)
      const [pod] = await stage.list(Pod)
      await stage.remove(Pod, pod!.metadata.name)
      await stage.until('it is deleted', async () => (await stage.get(Pod, pod!.metadata.name)) === undefined)
      await active(stage, 1)
    },
  },
  deleted('Background'),
  deleted('Foreground'),
  deleted('Orphan'),
  {
    name: 'goes after its time to live',
    script: succeeds,
    act: async stage => {
      await create(stage, { ttlSecondsAfterFinished: 1 })
      await gone(stage)
      await stage.until('no pods', async () => (await stage.list(Pod)).length === 0)
    },
  },
  {
    name: 'what another controller manages is left alone',
    act: stage => create(stage, { managedBy: 'example.com/other' }),
  },
  {
    name: 'adopts pods that it selects',
    act: async stage => {
      const labels = { app: 'work' }
      await stage.create(Pod, 'stray', { metadata: { labels }, spec: template().spec })
      await create(stage, {
        manualSelector: true,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, ...template() },
      })
      await active(stage, 1)
    },
  },
  {
    name: 'a cron job that is suspended',
    act: stage =>
      stage.create(CronJob, 'tick', {
        spec: { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template: template() } } },
      }),
  },
]
