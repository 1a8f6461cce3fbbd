import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Scratch, scratch, startIn } from '../../packages/cli/src/test-support/commands.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Keeps a ConfigMap for each Greeting. The wrong one notes that it has, and believes it, before it does. */
const operatorThat = (steps: string) => `
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, defineOperator, s } from 'coxswain'

export const Greeting = defineKind({
  group: 'example.com',
  kind: 'Greeting',
  versions: { v1: { storage: true, spec: s.object({ to: s.string() }), status: s.object({ done: s.boolean().optional() }) } },
})

export default defineOperator('greeter', operator => {
  operator.controller('greeting').for(Greeting.v1).reconcile(async ({ key, client }) => {
    const greeting = await client.get(Greeting.v1, key)
    if (!greeting) return
    const metadata = { namespace: key.namespace ?? '', name: key.name + '-text' }
    const write = () =>
      client.apply(ConfigMap, { metadata, data: { to: greeting.spec.to } }, { fieldManager: 'greeter', force: true })
    const report = () => client.patchStatus(Greeting.v1, greeting, { done: true })
    ${steps}
  })
})
`

const wrong = operatorThat('if (greeting.status?.done) return; await report(); await write()')

function project(operator: string): Scratch {
  const folder = scratch()
  symlinkSync(modules, join(folder.path, 'node_modules'))
  mkdirSync(join(folder.path, 'scenario'))
  folder.file('package.json', '{ "name": "greeter", "type": "module" }')
  folder.file('operator.ts', operator)
  folder.file(
    'scenario/00-crd.yaml',
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: greetings.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Greeting, plural: greetings }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { to: { type: string } } }
            status: { type: object, properties: { done: { type: boolean } } }
`,
  )
  folder.file(
    'scenario/10-create.yaml',
    'apiVersion: example.com/v1\nkind: Greeting\nmetadata: { namespace: default, name: a }\nspec: { to: you }\n',
  )
  return folder
}

async function coxswain(folder: Scratch, ...args: string[]) {
  await using running = startIn(folder.path, ...args)
  const code = await running.exited
  return { code, ...running.output() }
}

const operator = ['--', process.execPath, command, 'run', 'operator.ts', '--kubeconfig', '{kubeconfig}']

describe('coxswain torture', () => {
  it('finds a process that believes what it has noted before it did it, and replays it', async () => {
    using folder = project(wrong)
    const options = ['--scenario', 'scenario', '--only', 'crash', '--patience', '3', '--quiet', '700']
    const found = await coxswain(folder, 'torture', ...options, '--json', 'report.json', ...operator)
    assert.equal(found.code, 1, found.stdout + found.stderr)
    assert.match(found.stdout, /^same-end: the state in the end is not that of an undisturbed run$/m)
    assert.match(
      found.stdout,
      /^What went wrong: the process was killed after write 1 \(patch of greetings default\/a\/status\)\.$/m,
    )
    assert.match(found.stdout, /^ {2}- configmaps default\/a-text$/m)
    const { failures } = JSON.parse(readFileSync(join(folder.path, 'report.json'), 'utf8')) as {
      failures: { plan: { faults: unknown[] } }[]
    }
    assert.deepEqual(failures[0]?.plan.faults, [{ fault: 'crash', write: 1, when: 'after' }])

    const file = readdirSync(folder.path).find(name => name.startsWith('torture-'))
    assert.ok(file !== undefined && found.stdout.includes(`--replay ${file}`))
    const replayed = await coxswain(folder, 'torture', ...options, '--replay', file, ...operator)
    assert.equal(replayed.code, 1, replayed.stdout + replayed.stderr)
    assert.match(replayed.stdout, /^1 failures in 3 runs, /m)
  })

  it('says what is wrong with the command line, the scenario and the operator', async () => {
    using folder = project(wrong)
    const run = (...args: string[]) => coxswain(folder, 'torture', ...args)
    const fault = await run('--scenario', 'scenario', '--only', 'crash,flood', '--', 'true')
    assert.equal(fault.code, 2)
    assert.match(fault.stderr, /flood is not one of crash, /)
    const nowhere = await run('--scenario', 'none', '--', 'true')
    assert.equal(nowhere.code, 2)
    assert.match(nowhere.stderr, /--scenario none: does not exist/)
    const program = await run('--scenario', 'scenario', '--', 'no-such-program')
    assert.equal(program.code, 1)
    assert.match(program.stderr, /no-such-program cannot be started/)
    const silent = await run('--scenario', 'scenario', '--', 'sh', '-c', 'echo no cluster for me; exit 3')
    assert.equal(silent.code, 1)
    assert.match(silent.stderr, /sent no request to the API server; it printed last:\nno cluster for me/)
  })
})
