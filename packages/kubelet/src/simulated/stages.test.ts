import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ContainerSpec } from '../container-runtime.ts'
import { courseOf, defaultStages } from './stages.ts'

const specOf = (more: Partial<ContainerSpec> & { annotations?: Record<string, string> }): ContainerSpec => ({
  pod: { uid: 'u', namespace: 'default', name: 'p' },
  name: 'main',
  role: 'main',
  restartPolicy: 'Always',
  attempt: 0,
  image: 'i',
  env: new Map(),
  mounts: [],
  stdin: false,
  stdinOnce: false,
  tty: false,
  terminationMessagePath: '',
  runAsNonRoot: false,
  ...more,
  annotations: Object.fromEntries(
    Object.entries(more.annotations ?? {}).map(([word, value]) => [`simulated.coxswain.dev/${word}`, value]),
  ),
})

const courseFor = (more: Parameters<typeof specOf>[0]) => courseOf(specOf(more), defaultStages)

describe('the course of a simulated container', () => {
  it('ends unless the restart policy is Always', () => {
    assert.equal(courseFor({}).run, undefined)
    assert.equal(courseFor({ restartPolicy: 'Never' }).run, 2_000)
    assert.equal(courseFor({ restartPolicy: 'OnFailure' }).run, 2_000)
    assert.equal(courseFor({ role: 'init' }).run, 200)
    assert.equal(courseFor({ role: 'sidecar' }).run, undefined)
    assert.equal(courseFor({ role: 'ephemeral', restartPolicy: 'Never' }).run, undefined)
  })

  it('follows annotations, those for its own name first', () => {
    const annotations = {
      'run-for': '1m30s',
      'run-for.other': '1s',
      'start-after': '0s',
      'ready-after.main': '250ms',
      'ready-after': '9s',
      'exit-code': '3',
    }
    assert.deepEqual(courseFor({ annotations }), { start: 0, ready: 250, run: 90_000, exitCode: 3 })
    assert.equal(courseFor({ annotations, name: 'other' }).run, 1_000)
    assert.equal(courseFor({ annotations, role: 'init', name: 'first' }).run, 200)
    assert.equal(courseFor({ annotations: { 'exit-code': '1' } }).run, 2_000)
  })

  it('ignores annotations that cannot be parsed', () => {
    const annotations = { 'run-for': 'soon', 'exit-code': '-1', 'start-after': '', 'ready-after': '-5s' }
    const { start, run, exitCode, ready } = courseFor({ annotations })
    assert.deepEqual([start, run, exitCode, ready], [500, undefined, 0, 0])
  })
})
