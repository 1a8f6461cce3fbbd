import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Copies settings into a ConfigMap for each Greeting; `extra` is one more line of its reconcile. */
const operatorWith = (extra: string) => `
import { ConfigMap, Secret } from '@coxswain/api/core/v1'
import { defineKind, defineOperator, s } from 'coxswain'

export const Greeting = defineKind({
  group: 'example.com',
  kind: 'Greeting',
  versions: { v1: { storage: true, spec: s.object({ to: s.string() }) } },
})

const settings = { namespace: 'greeter-settings', name: 'words' }

export default defineOperator('greeter', operator => {
  operator.controller('greeting').for(Greeting.v1).rbac(ConfigMap, ['deletecollection']).reconcile(async ({ key, client }) => {
    const greeting = await client.get(Greeting.v1, key)
    if (!greeting) return
    const words = await client.get(ConfigMap, settings, { cached: false })
    const data = { text: (words?.data?.hello ?? 'hello') + ' ' + greeting.spec.to }
    await client.apply(ConfigMap, { metadata: { namespace: key.namespace ?? '', name: key.name + '-text' }, data }, { fieldManager: 'greeter', force: true })
    ${extra}
  })
})
`

const test = `
import { test } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { Greeting } from './operator.ts'

test('greets', async () => {
  await using cluster = await startCluster({ env: new VirtualWorld() })
  await cluster.install(operator)
  cluster.start(operator)
  await cluster.run(cluster.client.create(Greeting.v1, { metadata: { namespace: 'default', name: 'a' }, spec: { to: 'you' } }))
  await cluster.expect(ConfigMap, { namespace: 'default', name: 'a-text' }).eventually().toHave({ data: { text: 'hello you' } })
  await cluster.advance(10_000)
})
`

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Project extends Disposable {
  readonly path: string
  coxswain(...args: string[]): Ran
  test(): Ran
  write(file: string, content: string): void
  read(file: string): string
}

function createProject(files: Readonly<Record<string, string>>): Project {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-rights-'))
  symlinkSync(modules, join(path, 'node_modules'))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: path, encoding: 'utf8', env })
  const project: Project = {
    path,
    coxswain: (...args) => run(command, ...args),
    test: () => run('--test'),
    write: (file, content) => writeFileSync(join(path, file), content),
    read: file => readFileSync(join(path, file), 'utf8'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
  project.write('package.json', '{ "name": "greeter", "type": "module" }\n')
  for (const [file, content] of Object.entries(files)) project.write(file, content)
  return project
}

const node = process.execPath

describe('coxswain rights', () => {
  it('records what tests use, makes roles of it, and fails tests that need more, with the line', () => {
    using project = createProject({ 'operator.ts': operatorWith(''), 'operator.test.ts': test })
    const recorded = project.coxswain('rights', '--', node, '--test')
    assert.equal(recorded.status, 0, recorded.stdout + recorded.stderr)
    assert.match(recorded.stdout, /^\+ get configmaps in greeter-settings named words$/m)
    assert.match(recorded.stdout, /^rbac\.lock\.json written: 5 rights$/m)
    assert.match(recorded.stdout, /^unused: greeting may deletecollection configmaps, and no test does$/m)
    assert.equal(
      project.read('rbac.lock.json'),
      `[
  { "group": "", "resource": "configmaps", "verb": "create" },
  { "group": "", "resource": "configmaps", "verb": "patch" },
  { "group": "", "resource": "configmaps", "namespace": "greeter-settings", "name": "words", "verb": "get" },
  { "group": "example.com", "resource": "greetings", "verb": "list" },
  { "group": "example.com", "resource": "greetings", "verb": "watch" }
]
`,
    )
    assert.equal(project.test().status, 0)
    const checked = project.coxswain('rights', '--check', '--', node, '--test')
    assert.equal(checked.status, 0, checked.stdout + checked.stderr)

    const made = project.coxswain('manifests')
    assert.equal(made.status, 0, made.stderr)
    const roles = readYamlDocuments(project.read('config/rbac/role.yaml')).map(({ value }) => value)
    assert.partialDeepStrictEqual(roles.at(-1), {
      metadata: { name: 'manager-role' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] }],
    })
    const restricted = readYamlDocuments(project.read('config/namespaces/role.yaml')).map(
      ({ value }) => value,
    )
    assert.partialDeepStrictEqual(restricted[0], {
      kind: 'Role',
      metadata: { namespace: 'greeter-settings' },
      rules: [{ resourceNames: ['words'], resources: ['configmaps'], verbs: ['get'] }],
    })

    const more = operatorWith("await client.delete(Secret, { namespace: 'default', name: 'old' })")
    project.write('operator.ts', more)
    const line = more.split('\n').findIndex(text => text.includes('client.delete')) + 1
    const failed = project.test()
    assert.equal(failed.status, 1)
    assert.ok(
      failed.stdout.includes(`  delete secrets in default named old (operator.ts:${line})`),
      failed.stdout,
    )
    assert.match(failed.stdout, /record it: npx coxswain rights -- npm test/)
    const stale = project.coxswain('rights', '--check', '--', node, '--test')
    assert.equal(stale.status, 1)
    assert.match(stale.stdout, /^\+ delete secrets named old$/m)
    assert.match(stale.stderr, /rbac\.lock\.json is stale; run: npx coxswain rights -- /)
  })

  it('records nothing from tests that fail, or start no operator', () => {
    using project = createProject({
      'operator.ts': operatorWith(''),
      'operator.test.ts': 'throw new Error()',
    })
    const failed = project.coxswain('rights', '--', node, '--test')
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /ended with exit code 1: rights are only recorded by tests that pass/)
    project.write('operator.test.ts', '')
    const none = project.coxswain('rights', '--', node, '--test')
    assert.equal(none.status, 1)
    assert.match(none.stderr, /started no operator of/)
    assert.equal(existsSync(join(project.path, 'rbac.lock.json')), false)
  })

  it('needs a command', () => {
    using project = createProject({})
    assert.equal(project.coxswain('rights').status, 2)
    assert.match(
      project.coxswain('rights', '--', 'no-such-program').stderr,
      /no-such-program cannot be started/,
    )
  })
})
