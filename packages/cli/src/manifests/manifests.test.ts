import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

const yaml = (text: string): unknown => readYamlDocuments(text)[0]?.value

const operator = `
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, defineOperator, s } from 'coxswain'

export const Greeting = defineKind({
  group: 'example.com',
  kind: 'Greeting',
  versions: {
    v1: { storage: true, spec: s.object({ to: s.string({ minLength: 1 }) }), status: s.object({ text: s.string().optional() }) },
    v1beta1: { spec: s.object({ name: s.string() }) },
  },
  conversions: {
    v1beta1: {
      v1: {
        to: old => ({ spec: { to: old.spec.name } }),
        from: now => ({ spec: { name: now.spec.to } }),
      },
    },
  },
})

export default defineOperator('greeter', operator => {
  operator.webhook(Greeting.v1).default(() => {})
  operator.controller('greeting').for(Greeting.v1).owns(ConfigMap).rbac(ConfigMap, ['create', 'patch']).reconcile(() => {})
})
`

interface Project extends Disposable {
  readonly path: string
  coxswain(...args: string[]): {
    readonly status: number | null
    readonly stdout: string
    readonly stderr: string
  }
  write(file: string, content: string): void
  read(file: string): string
}

function createProject(files: Readonly<Record<string, string>>): Project {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-manifests-'))
  symlinkSync(modules, join(path, 'node_modules'))
  const project: Project = {
    path,
    coxswain: (...args) => spawnSync(process.execPath, [command, ...args], { cwd: path, encoding: 'utf8' }),
    write: (file, content) => writeFileSync(join(path, file), content),
    read: file => readFileSync(join(path, file), 'utf8'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
  project.write('package.json', '{ "name": "@acme/greeter", "type": "module" }\n')
  for (const [file, content] of Object.entries(files)) project.write(file, content)
  return project
}

describe('coxswain manifests', () => {
  it('writes every manifest of an operator, and then finds nothing to change', () => {
    using project = createProject({ 'operator.ts': operator })
    const first = project.coxswain('manifests')
    assert.equal(first.status, 0, first.stderr)
    assert.match(first.stdout, /^config\/crd\/bases\/example\.com_greetings\.yaml created$/m)
    const role = readYamlDocuments(project.read('config/rbac/role.yaml')).map(({ value }) => value)
    assert.partialDeepStrictEqual(role[0], {
      kind: 'ClusterRole',
      metadata: { name: 'greeting-role' },
      rules: [
        { resources: ['configmaps'], verbs: ['create', 'get', 'list', 'patch', 'watch'] },
        { resources: ['events'], verbs: ['create', 'patch'] },
        { apiGroups: ['example.com'], resources: ['greetings'], verbs: ['get', 'list', 'watch'] },
      ],
    })
    assert.partialDeepStrictEqual(yaml(project.read('config/crd/patches/webhook_in_greeting.yaml')), {
      spec: {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { path: '/convert' } } } },
      },
    })
    assert.partialDeepStrictEqual(yaml(project.read('config/samples/example.com_v1_greeting.yaml')), {
      apiVersion: 'example.com/v1',
      kind: 'Greeting',
      spec: { to: 'example' },
    })
    assert.partialDeepStrictEqual(yaml(project.read('config/default/kustomization.yaml')), {
      namePrefix: 'greeter-',
      namespace: 'greeter-system',
      resources: ['../crd', '../rbac', '../manager', '../webhook'],
    })
    assert.match(project.coxswain('manifests').stdout, /files are up to date/)
    assert.equal(project.coxswain('manifests', '--check').status, 0)
  })

  it("writes cert-manager's Issuer and Certificate where it makes the certificates", () => {
    using project = createProject({ 'operator.ts': operator })
    assert.equal(project.coxswain('manifests', '--cert-manager').status, 0)
    const built = project.coxswain('kustomize', 'build', 'config/default')
    assert.equal(built.status, 0, built.stderr)
    const objects = readYamlDocuments(built.stdout).map(({ value }) => value as Record<string, unknown>)
    const find = (kind: string) => objects.find(object => object.kind === kind)
    assert.partialDeepStrictEqual(find('Issuer'), {
      metadata: { name: 'greeter-selfsigned-issuer', namespace: 'greeter-system' },
    })
    assert.partialDeepStrictEqual(find('Certificate'), {
      metadata: { name: 'greeter-serving-cert', namespace: 'greeter-system' },
      spec: {
        dnsNames: ['greeter-webhook-service.greeter-system.svc'],
        issuerRef: { kind: 'Issuer', name: 'greeter-selfsigned-issuer' },
        secretName: 'webhook-server-cert',
      },
    })
    const annotations = { 'cert-manager.io/inject-ca-from': 'greeter-system/greeter-serving-cert' }
    for (const kind of ['CustomResourceDefinition', 'MutatingWebhookConfiguration'])
      assert.partialDeepStrictEqual(find(kind), { metadata: { annotations } })
    assert.equal(project.coxswain('manifests').status, 0)
    assert.throws(() => project.read('config/certmanager/issuer.yaml'), /ENOENT/)
  })

  it('fails a check of stale, missing and obsolete files, and says what mends it', () => {
    using project = createProject({ 'operator.ts': operator })
    project.coxswain('manifests', 'operator.ts')
    const role = project.read('config/rbac/role.yaml')
    project.write('config/rbac/role.yaml', `${role}# edited\n`)
    rmSync(join(project.path, 'config/webhook/service.yaml'))
    project.write('config/crd/bases/example.com_olds.yaml', `${role.split('\n')[0]}\n`)
    project.write('config/manager/manager.yaml', '# mine\n')
    const check = project.coxswain('manifests', '--check', 'operator.ts')
    assert.equal(check.status, 1)
    assert.equal(
      check.stderr,
      `config/rbac/role.yaml is stale
config/webhook/service.yaml is missing
config/crd/bases/example.com_olds.yaml is no longer generated
coxswain: manifests are stale; run: npx coxswain manifests operator.ts
`,
    )
    assert.equal(project.coxswain('manifests', 'operator.ts').status, 0)
    assert.equal(project.read('config/rbac/role.yaml'), role)
    assert.equal(existsSync(join(project.path, 'config/crd/bases/example.com_olds.yaml')), false)
    assert.equal(project.read('config/manager/manager.yaml'), '# mine\n')
    assert.equal(project.coxswain('manifests', '--check', 'operator.ts').status, 0)
  })

  it('takes the name from PROJECT, and the calls that tests recorded', () => {
    using project = createProject({
      'operator.ts': operator,
      PROJECT: 'domain: example.com\nprojectName: fleet\nversion: "3"\n',
      'rbac.lock.json': '[{ "verb": "delete", "group": "", "resource": "pods" }]',
      'coxswain.config.ts': "export default { operators: ['operator.ts'], namespaces: ['harbor'] }\n",
    })
    const made = project.coxswain('manifests')
    assert.equal(made.status, 0, made.stderr)
    const roles = readYamlDocuments(project.read('config/namespaces/role.yaml')).map(({ value }) => value)
    assert.partialDeepStrictEqual(roles[1], {
      kind: 'Role',
      metadata: { name: 'fleet-manager-role', namespace: 'harbor' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }],
    })
    assert.match(project.read('config/manager/manager.yaml'), /--namespaces=harbor/)
  })

  const bad: readonly [string, Readonly<Record<string, string>>, RegExp, number][] = [
    [
      'a broken source',
      { 'operator.ts': 'export default {{\n' },
      /^coxswain: operator cannot be loaded: operator\.ts:1: /,
      1,
    ],
    ['no operator', {}, /^coxswain: no operators: name files, list operators in coxswain\.config\.ts/, 2],
    [
      'an export that is neither operator nor kind',
      { 'operator.ts': 'export default 1\n' },
      /^coxswain: operator\.ts: exports neither an operator nor a kind/,
      1,
    ],
    [
      'two kinds of one name',
      {
        'operator.ts': `${operator}\nexport const Other = defineKind({ group: 'example.com', kind: 'Greeting', versions: { v1: {} } })\n`,
      },
      /^coxswain: two kinds are named greetings\.example\.com: rename one/,
      1,
    ],
    [
      'a rule that does not compile',
      {
        'operator.ts': `import { defineKind, s } from 'coxswain'
export const Bad = defineKind({ group: 'example.com', kind: 'Bad', versions: { v1: { spec: s.object({ n: s.int32().cel("self == 'a'") }) } } })\n`,
      },
      /^coxswain: CustomResourceDefinition bads\.example\.com is invalid:\n {2}spec\.validation\.openAPIV3Schema\.properties\[spec\]\.properties\[n\]\.x-kubernetes-validations\[0\]\.rule: Invalid value: .*compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '\(int, string\)'/,
      1,
    ],
    [
      'calls that cannot be read',
      { 'operator.ts': operator, 'rbac.lock.json': '[{}]' },
      /^coxswain: rbac\.lock\.json: \[0\]: needs a verb and a resource/,
      1,
    ],
    [
      'a name that a cluster rejects',
      { 'operator.ts': operator, PROJECT: 'projectName: Not_A_Name\n' },
      /^coxswain: the project's name "Not_A_Name" cannot be part of names in a cluster/,
      1,
    ],
  ]
  for (const [what, files, message, status] of bad) {
    it(`says in one message what is wrong with ${what}, and writes nothing`, () => {
      using project = createProject(files)
      const result = project.coxswain('manifests')
      assert.match(result.stderr, message)
      assert.equal(result.status, status)
      assert.equal(existsSync(join(project.path, 'config')), false)
    })
  }

  it('writes nothing when a folder cannot be written', () => {
    using project = createProject({ 'operator.ts': operator })
    mkdirSync(join(project.path, 'config'))
    project.write('config/webhook', 'a file where a folder has to be\n')
    const result = project.coxswain('manifests')
    assert.equal(result.status, 1)
    assert.match(result.stderr, /^coxswain: .*config\/webhook.* cannot be written: /)
    assert.deepEqual(readdirSync(join(project.path, 'config')), ['webhook'])
  })

  it('leaves feature-gated fields out unless their gate is enabled', () => {
    using project = createProject({
      'api.ts': `import { defineKind, s } from 'coxswain'
export const Ship = defineKind({ group: 'example.com', kind: 'Ship', versions: { v1: { spec: s.object({ name: s.string(), sail: s.string().featureGate('Sails') }) } } })\n`,
    })
    const fields = (...args: string[]) => {
      const made = project.coxswain('manifests', 'api.ts', ...args)
      assert.equal(made.status, 0, made.stderr)
      const crd = yaml(project.read('config/crd/bases/example.com_ships.yaml')) as {
        spec: {
          versions: {
            schema: { openAPIV3Schema: { properties: { spec: { properties: object; required: string[] } } } }
          }[]
        }
      }
      return crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec.required
    }
    assert.deepEqual(fields(), ['name'])
    assert.deepEqual(fields('--feature-gates', 'Sails=true'), ['name', 'sail'])
    assert.equal(project.coxswain('manifests', 'api.ts', '--feature-gates', 'Sails').status, 2)
  })

  it('converts objects without a cluster', () => {
    using project = createProject({
      'operator.ts': operator,
      'old.yaml':
        'apiVersion: example.com/v1beta1\nkind: Greeting\nmetadata:\n  name: ahab\nspec:\n  name: Ahab\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n',
    })
    const converted = project.coxswain('convert', 'old.yaml', '--to', 'v1')
    assert.equal(converted.status, 0, converted.stderr)
    assert.deepEqual(
      readYamlDocuments(converted.stdout).map(({ value }) => value),
      [
        { apiVersion: 'example.com/v1', kind: 'Greeting', metadata: { name: 'ahab' }, spec: { to: 'Ahab' } },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
      ],
    )
    const unknown = project.coxswain('convert', 'old.yaml', '--to', 'v9', '--kinds', 'operator.ts')
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /^coxswain: --to v9: Greeting has example\.com\/v1, example\.com\/v1beta1/)
  })
})
