import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { cronJobStrategy } from '../batch/cron-job.ts'
import { scheduleProblem } from '../batch/cron-schedule.ts'
import { countIndexes, findOverlap } from '../batch/indexes.ts'
import { jobStrategy } from '../batch/job.ts'
import { podDisruptionBudgetStrategy } from '../policy/pod-disruption-budget.ts'
import type { Strategy } from '../strategy.ts'
import { daemonSetStrategy } from './daemon-set.ts'
import { deploymentStrategy } from './deployment.ts'
import { statefulSetStrategy } from './stateful-set.ts'

const context = {} as never
const template = (labels: JsonObject = { app: 'a' }, spec: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
})
const texts = (errors: Iterable<FieldError>): string[] => Array.from(errors, field.formatFieldError)

function problemsOf(strategy: Strategy, spec: JsonObject, old?: JsonObject): string[] {
  const object: JsonObject = { metadata: { name: 'o', namespace: 'n', uid: 'u' }, spec }
  strategy.default?.(object)
  const before = old && { metadata: { name: 'o', namespace: 'n', uid: 'u' }, spec: old }
  if (before) strategy.default?.(before)
  return texts([
    ...(strategy.validate?.(object, context, before) ?? []),
    ...(before ? (strategy.validateUpdate?.(object, before, context) ?? []) : []),
  ])
}

describe('the template generation of a daemon set', () => {
  it('is exact beyond 2^53, and starts at one', () => {
    const key = 'deprecated.daemonset.template.generation'
    const prepare = (generation: string, template: JsonObject, old?: JsonObject): string => {
      const object = { metadata: { annotations: { [key]: generation } }, spec: { template } }
      if (old) daemonSetStrategy.prepareForUpdate!(object, old, {} as never)
      else daemonSetStrategy.prepareForCreate!(object, {} as never)
      return object.metadata.annotations[key]!
    }
    assert.equal(prepare('9007199254740993', {}), '9007199254740993')
    assert.equal(prepare('-5', {}), '1')
    const old = { metadata: { annotations: { [key]: '9007199254740993' } }, spec: { template: {} } }
    assert.equal(prepare('1', { spec: {} }, old), '9007199254740994')
  })
})

describe('a deployment', () => {
  const spec = () => ({ selector: { matchLabels: { app: 'a' } }, template: template() })

  it('selects the pods it makes', () => {
    assert.deepEqual(problemsOf(deploymentStrategy, spec()), [])
    assert.deepEqual(problemsOf(deploymentStrategy, { ...spec(), template: template({ app: 'b' }) }), [
      'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
    ])
  })

  it('prints its strategy with the zero values of Go', () => {
    const strategy = { type: 'Slow', rollingUpdate: { maxSurge: 1 } }
    assert.deepEqual(problemsOf(deploymentStrategy, { ...spec(), strategy }), [
      'spec.strategy: Unsupported value: {"Type":"Slow","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}: supported values: "Recreate", "RollingUpdate"',
    ])
  })

  it('keeps its selector', () => {
    const other = { selector: { matchLabels: { app: 'b' } }, template: template({ app: 'b' }) }
    assert.deepEqual(problemsOf(deploymentStrategy, other, spec()), [
      'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable',
    ])
  })

  it('can roll', () => {
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } }
    assert.deepEqual(problemsOf(deploymentStrategy, { ...spec(), strategy }), [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ])
  })

  it('reports counts that add up', () => {
    const status = { replicas: 1, readyReplicas: 2, availableReplicas: 1 }
    assert.deepEqual(texts(deploymentStrategy.validateStatusUpdate!({ status }, {}, context)), [
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    ])
  })
})

describe('a daemon set', () => {
  it('has pods that do not end', () => {
    const spec = {
      selector: { matchLabels: { app: 'a' } },
      template: template({ app: 'a' }, { restartPolicy: 'Never' }),
    }
    assert.deepEqual(problemsOf(daemonSetStrategy, spec), [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ])
  })
})

describe('a stateful set', () => {
  const claims = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ]
  const mounts = [{ name: 'data', mountPath: '/data' }]
  const spec = (more: JsonObject = {}) => ({
    selector: { matchLabels: { app: 'a' } },
    template: template({ app: 'a' }, { containers: [{ name: 'c', image: 'x', volumeMounts: mounts }] }),
    volumeClaimTemplates: structuredClone(claims),
    ...more,
  })

  it('has a volume for every claim', () => {
    assert.deepEqual(problemsOf(statefulSetStrategy, spec()), [])
  })

  it('changes little', () => {
    assert.deepEqual(problemsOf(statefulSetStrategy, spec({ replicas: 3 }), spec()), [])
    const [problem] = problemsOf(statefulSetStrategy, spec({ serviceName: 'x' }), spec())
    assert.match(problem!, /^spec: Forbidden: updates to statefulset spec for fields other than/)
  })
})

describe('a job', () => {
  const spec = (more: JsonObject = {}) => ({
    manualSelector: true,
    selector: { matchLabels: { app: 'a' } },
    template: template({ app: 'a' }, { restartPolicy: 'Never' }),
    ...more,
  })

  it('has pods that end', () => {
    assert.deepEqual(problemsOf(jobStrategy, spec()), [])
    assert.deepEqual(problemsOf(jobStrategy, { ...spec(), template: template() }), [
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ])
  })

  it('keeps its template, but for resources and places while it is suspended', () => {
    const image = { ...spec(), template: template({ app: 'a' }, { restartPolicy: 'Never', hostname: 'h' }) }
    assert.match(
      problemsOf(jobStrategy, image, spec())[0]!,
      /^spec\.template: Invalid value: .*: field is immutable$/,
    )
    const place = template({ app: 'a' }, { restartPolicy: 'Never', nodeSelector: { a: 'b' } })
    const suspended = { suspend: true }
    assert.deepEqual(problemsOf(jobStrategy, spec({ ...suspended, template: place }), spec(suspended)), [])
  })

  it('does not come back to life', () => {
    const old = { spec: {}, status: { conditions: [{ type: 'Failed', status: 'True' }] } }
    assert.deepEqual(texts(jobStrategy.validateStatusUpdate!({ spec: {}, status: {} }, old, context)), [
      'status.conditions: Invalid value: cannot disable the terminal Failed=True condition',
    ])
  })

  it('counts indexes in increasing order', () => {
    assert.equal(countIndexes('0,2-4,7', 8), 5)
    assert.equal(countIndexes('2,1', 8), 'non-increasing order, previous: 2, current: 1')
    assert.equal(countIndexes('8', 8), 'too large index: "8"')
    assert.equal(
      countIndexes('1-2-3', 8),
      `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
    )
    assert.equal(findOverlap('0-3', '3,5', 8), 3)
    assert.equal(findOverlap('0-2', '3,5', 8), undefined)
  })
})

describe('a cron job', () => {
  const spec = (more: JsonObject = {}) => ({
    schedule: '*/5 * * * *',
    jobTemplate: { spec: { template: template({}, { restartPolicy: 'Never' }) } },
    ...more,
  })

  it('knows the notation of cron', () => {
    for (const good of ['* * * * *', '@hourly', '@every 1h30m', '0-30/10 1,2 ? jan-mar MON'])
      assert.equal(scheduleProblem(good), undefined, good)
    assert.equal(scheduleProblem('* * * *'), 'expected exactly 5 fields, found 4: [* * * *]')
    assert.equal(scheduleProblem('60 * * * *'), 'end of range (60) above maximum (59): 60')
    assert.equal(scheduleProblem('5-1 * * * *'), 'beginning of range (5) beyond end of range (1): 5-1')
    assert.equal(scheduleProblem('*/0 * * * *'), 'step of range should be a positive number: */0')
    assert.equal(scheduleProblem('@never'), 'unrecognized descriptor: @never')
  })

  it('has its time zone in its own field', () => {
    assert.deepEqual(problemsOf(cronJobStrategy, spec({ timeZone: 'Europe/Berlin' })), [])
    assert.deepEqual(problemsOf(cronJobStrategy, spec({ timeZone: 'US/Eastern' })), [])
    assert.deepEqual(problemsOf(cronJobStrategy, spec({ timeZone: 'us/eastern' })), [
      'spec.timeZone: Invalid value: "us/eastern": unknown time zone us/eastern',
    ])
    assert.deepEqual(problemsOf(cronJobStrategy, spec({ timeZone: 'europe/berlin' })), [
      'spec.timeZone: Invalid value: "europe/berlin": unknown time zone europe/berlin',
    ])
    assert.deepEqual(problemsOf(cronJobStrategy, spec({ schedule: 'TZ=UTC * * * * *' })), [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ])
  })
})

describe('a disruption budget', () => {
  it('says what must stay or what may go, not both', () => {
    assert.deepEqual(problemsOf(podDisruptionBudgetStrategy, { minAvailable: '50%' }), [])
    assert.deepEqual(problemsOf(podDisruptionBudgetStrategy, { maxUnavailable: '101%' }), [
      'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ])
    assert.match(
      problemsOf(podDisruptionBudgetStrategy, { minAvailable: 1, maxUnavailable: 1 })[0]!,
      /^spec: Invalid value: .*: minAvailable and maxUnavailable cannot be both set$/,
    )
  })
})
