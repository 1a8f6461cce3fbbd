import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Scratch, scratch, startIn } from '../../packages/cli/src/test-support/commands.ts'

const example = fileURLToPath(new URL('../../examples/01-at', import.meta.url))

async function coxswain(folder: Scratch, ...args: string[]) {
  await using command = startIn(folder.path, ...args)
  const code = await command.exited
  return { code, ...command.output() }
}

interface AuditEvent {
  readonly userAgent: string
  readonly verb: string
  readonly stage: string
}

const at = (name: string, schedule: string) => `
apiVersion: cnat.programming-kubernetes.info/v1alpha1
kind: At
metadata: { namespace: default, name: ${name} }
spec:
  schedule: "${schedule}"
  containers: [{ name: shell, image: busybox, command: [sleep, "5"] }]
`

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

describe('coxswain plan', () => {
  it('shows what an operator would do, in order and in time, and only reads the cluster', async () => {
    using folder = scratch()
    folder.file('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')
    const audit = ['--audit-policy-file', 'policy.yaml', '--audit-log-path', 'audit.log']
    await using up = startIn(
      folder.path,
      'up',
      '--port',
      '0',
      '--storage',
      'memory',
      '--nodes',
      '0',
      ...audit,
    )
    await up.prints(/is ready at/)
    const to = ['--kubeconfig', join(folder.path, '.coxswain/kubeconfig')]
    folder.file('later.yaml', at('later', inMinutes(300)))
    folder.file('sooner.yaml', at('later', inMinutes(20)))
    await coxswain(folder, 'apply', '-f', join(example, 'crd.yaml'), ...to)
    const applied = await coxswain(folder, 'apply', '-f', 'later.yaml', ...to)
    assert.equal(applied.code, 0, applied.stderr)
    const operator = join(example, 'operator.ts')

    const plan = await coxswain(folder, 'plan', operator, '-f', 'sooner.yaml', ...to)
    assert.equal(plan.code, 2, plan.stderr)
    const lines = plan.stdout.split('\n')
    const positions = [
      lines.findIndex(line => /^~ +\d\.\d s {2}change At default\/later \(status\)/.test(line)),
      lines.findIndex(line =>
        /^\+ +(?:19 min \d+|20 min 0) s {2}create Pod default\/later-pod .*operator\.ts:\d+$/.test(line),
      ),
      lines.findIndex(line => line.includes('+ status.phase: "RUNNING"')),
    ]
    assert.ok(
      positions.every(position => position >= 0),
      plan.stdout,
    )
    assert.deepEqual(
      positions.toSorted((a, b) => a - b),
      positions,
    )
    assert.match(plan.stdout, /^ +\+ +image: busybox$/m)
    assert.match(
      plan.stdout,
      /^1 to create, \d to change, 0 to delete; the last after (?:19|20) min \d+ s\.$/m,
    )

    const json = await coxswain(folder, 'plan', operator, '-f', 'sooner.yaml', '--json', ...to)
    assert.equal(json.code, 2, json.stderr)
    const { writes } = JSON.parse(json.stdout) as { writes: { action: string; kind: string }[] }
    assert.deepEqual(
      writes.filter(({ action }) => action === 'create').map(({ kind }) => kind),
      ['Pod'],
    )

    const short = await coxswain(folder, 'plan', operator, '-f', 'later.yaml', '--for', '10m', ...to)
    assert.equal(short.code, 0, short.stdout + short.stderr)
    assert.match(short.stdout, /^cnat would change nothing\.$/m)

    const events = readFileSync(join(folder.path, 'audit.log'), 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as AuditEvent)
    const verbs = new Set(
      events.filter(({ userAgent }) => userAgent?.startsWith('coxswain-plan')).map(({ verb }) => verb),
    )
    assert.deepEqual([...verbs].sort(), ['get', 'list'])
    const writers = events.filter(({ verb }) => /create|update|patch|delete/.test(verb))
    assert.ok(
      writers.some(({ userAgent }) => userAgent?.startsWith('coxswain-deploy')),
      'the log has writes',
    )
  })

  it('fails with exit code 1 when it cannot make a plan', async () => {
    using folder = scratch()
    folder.file('change.yaml', at('a', 'now'))
    const operator = join(example, 'operator.ts')
    const unreachable = await coxswain(folder, 'plan', operator, '-f', 'change.yaml', '--kubeconfig', 'none')
    assert.equal(unreachable.code, 1)
    const usage = await coxswain(folder, 'plan', '--no-such-flag')
    assert.equal(usage.code, 1)
    assert.match(usage.stderr, /unknown option '--no-such-flag'/)
  })
})
