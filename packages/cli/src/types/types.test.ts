import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  type CustomResourceDefinition,
  type CustomResourceKind,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { comparableDefinition, readDefinition } from '@coxswain/project/definitions'
import { startCluster } from '@coxswain/testing'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const command = join(root, 'packages/coxswain/bin/coxswain.js')

/** A project that has coxswain installed. */
function createProject(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-types-'))
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(join(root, 'packages/coxswain'), join(path, 'node_modules/coxswain'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

function types(cwd: string, args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'types', ...args], {
    cwd,
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const widget = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.odd.example.com', annotations: { note: "it's" } },
  spec: {
    group: 'odd.example.com',
    names: { kind: 'Widget', plural: 'widgets', shortNames: ['wd'], categories: ['all'] },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'use v1 */ now',
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
        selectableFields: [{ jsonPath: '.spec.mode' }],
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget. */ export const broken = 1 /*',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec: {
                type: 'object',
                required: ['mode', 'port', 'a-b', 'new'],
                oneOf: [{ required: ['one'] }, { required: ['two'] }],
                properties: {
                  mode: { type: 'string', enum: ['Fast', "It's"], default: 'Fast' },
                  size: { type: 'integer', format: 'int32', default: 3, minimum: 0 },
                  port: {
                    'x-kubernetes-int-or-string': true,
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                  },
                  'a-b': { type: 'string', pattern: "^[a-z'\\\\]+$" },
                  aB: { type: 'object', properties: { deep: { type: 'boolean' } } },
                  new: { type: 'string' },
                  constructor: { type: 'string', nullable: true },
                  ['__proto__']: { type: 'object', properties: { class: { type: 'number' } } },
                  one: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  two: {
                    type: 'object',
                    additionalProperties: { type: 'array', items: { type: 'string', nullable: true } },
                  },
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                  empty: { type: 'object' },
                  when: { type: 'string', format: 'date-time' },
                  template: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name', 'protocol'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string' },
                        protocol: { type: 'string', default: 'TCP' },
                        number: { type: 'integer' },
                      },
                    },
                  },
                },
                'x-kubernetes-validations': [{ rule: 'self.size < 10', message: 'too "large"' }],
              },
              status: { type: 'object', properties: { size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
} as unknown as CustomResourceDefinition

const record = {
  ...widget,
  metadata: { name: 'records.odd.example.com' },
  spec: {
    group: 'odd.example.com',
    names: { kind: 'Record', plural: 'records' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as CustomResourceDefinition

const usage = `
import { createClient, type ApplyOf, type CreateOf, type KindOf } from 'coxswain'
import { type Record, Widget, type WidgetV1, WidgetV1beta1 } from './types/odd.example.com.ts'

declare const client: ReturnType<typeof createClient>
const read = (await client.get(Widget, { namespace: 'default', name: 'a' }))!
const size: number = read.spec.size
const mode: 'Fast' | "It's" = read.spec.mode
const port: number | string = read.spec.port
const protocol: string | undefined = read.spec.ports?.[0]?.protocol
const same: WidgetV1 = read satisfies KindOf<typeof Widget>
const nothing: unknown = read.spec['constructor']
const made: CreateOf<typeof Widget> = { metadata: { name: 'a' }, spec: { port: 80, 'a-b': 'x', new: 'y' } }
const applied: ApplyOf<typeof Widget> = { metadata: { name: 'a' }, spec: { ports: [{ name: 'web', protocol: 'TCP' }] } }
await client.create(Widget, made)
await client.get(WidgetV1beta1, { namespace: 'default', name: 'a' })
// @ts-expect-error a required field is missing
const incomplete: CreateOf<typeof Widget> = { spec: { port: 80 } }
// @ts-expect-error list-map keys stay required
const keyless: ApplyOf<typeof Widget> = { metadata: { name: 'a' }, spec: { ports: [{ name: 'web' }] } }
// @ts-expect-error not a value of the enum
const wrong: typeof mode = 'Slow'
export type { Record }
export { applied, incomplete, keyless, made, mode, nothing, port, protocol, same, size, wrong }
`

const compilerOptions = {
  extends: join(root, 'tsconfig.base.json'),
  compilerOptions: {
    noEmit: true,
    types: [],
    paths: { coxswain: [join(root, 'packages/coxswain/src/index.ts')] },
  },
  files: [join(root, 'node_modules/@types/node/index.d.ts'), 'use.ts'],
}

describe('coxswain types', () => {
  it('writes a file that compiles, gives the CRD back, and works on a cluster', async () => {
    using project = createProject()
    const input = `${writeYaml(widget)}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n${writeYaml(record)}`
    assert.deepEqual(types(project.path, ['-'], input), {
      status: 0,
      stdout: 'types/odd.example.com.ts\n',
      stderr: '',
    })

    const made = (await import(pathToFileURL(join(project.path, 'types/odd.example.com.ts')).href)) as {
      readonly [name: string]: CustomResourceKind<ApiObject & { spec: { size: number } }, object, object>
    }
    const { Widget, WidgetV1, WidgetV1beta1, Record, broken } = made
    assert.equal(broken, undefined)
    assert.equal(Widget, WidgetV1)
    assert.equal(WidgetV1beta1!.version, 'v1beta1')
    assert.equal(Record!.namespaced, false)
    for (const [kind, crd] of [
      [Widget!, widget],
      [Record!, record],
    ] as const)
      assert.deepEqual(
        comparableDefinition(toCustomResourceDefinition(kind)),
        comparableDefinition(readDefinition(crd)),
      )

    await using cluster = await startCluster()
    await cluster.apply([toCustomResourceDefinition(Widget!)])
    const spec = { port: 'http', 'a-b': 'x', new: 'y', one: {} }
    await cluster.client.create(Widget!, { metadata: { namespace: 'default', name: 'a' }, spec })
    assert.equal((await cluster.client.get(Widget!, { namespace: 'default', name: 'a' }))?.spec.size, 3)
  })

  it('writes types that tell reading, creating and applying apart', () => {
    using project = createProject()
    types(project.path, ['-'], `${writeYaml(widget)}---\n${writeYaml(record)}`)
    writeFileSync(join(project.path, 'use.ts'), usage)
    writeFileSync(join(project.path, 'package.json'), '{"type":"module"}')
    writeFileSync(join(project.path, 'tsconfig.json'), JSON.stringify(compilerOptions))
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout, status } = spawnSync(tsc, ['-p', project.path], { encoding: 'utf8' })
    assert.equal(stdout, '')
    assert.equal(status, 0)
  })

  it('converts v1beta1, reads folders, and says which file is stale', () => {
    using project = createProject()
    mkdirSync(join(project.path, 'crds/old'), { recursive: true })
    writeFileSync(
      join(project.path, 'crds/old/foo.yaml'),
      'apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\nspec: {group: example.com, version: v1, names: {kind: Foo, plural: foos}}\n',
    )
    writeFileSync(join(project.path, 'crds/template.yaml'), '{{ if }}')
    const check = ['crds', '--check', '--out', 'src/api']
    assert.deepEqual(types(project.path, check), {
      status: 1,
      stdout: '',
      stderr: 'coxswain: src/api/example.com.ts is missing; run: coxswain types crds --out src/api\n',
    })
    assert.equal(types(project.path, ['crds', '--out', 'src/api']).status, 0)
    assert.equal(types(project.path, check).status, 0)
    const file = join(project.path, 'src/api/example.com.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Foo', 'Bar'))
    assert.match(types(project.path, check).stderr, /example\.com\.ts is stale; run: /)
  })

  it('reads a group from a cluster, and every CRD of an address', async () => {
    using project = createProject()
    await using cluster = await startCluster()
    await cluster.apply([widget])
    const kubeconfig = await cluster.kubeconfig()
    const [, address] = /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))!
    // The server is in this process, so the command must not block it.
    const { execFile } = await import('node:child_process')
    const run = (...args: string[]) =>
      new Promise<string>(resolve =>
        execFile(
          process.execPath,
          [command, 'types', ...args, '--kubeconfig', kubeconfig],
          { cwd: project.path },
          (_, stdout, stderr) => resolve(`${stdout}${stderr}`),
        ),
      )
    assert.equal(await run('odd.example.com'), 'types/odd.example.com.ts\n')
    assert.equal(await run(address!), 'types/odd.example.com.ts\n')
    assert.match(
      await run('other.example.com'),
      /no CustomResourceDefinition of the group other\.example\.com; it has odd\.example\.com\n/,
    )
    assert.match(
      await run('https://127.0.0.1:1'),
      /no context of the kubeconfig has credentials for this server/,
    )
  })

  it('says what is wrong, and writes nothing', () => {
    using project = createProject()
    const bad = (change: object) => writeYaml({ ...widget, spec: { ...widget.spec, ...change } })
    const cases: readonly (readonly [string, string, RegExp])[] = [
      ['-', '', /standard input: there is no CustomResourceDefinition/],
      ['-', 'a: [', /standard input: /],
      ['-', bad({ group: undefined }), /widgets\.odd\.example\.com: spec\.group is required/],
      ['-', bad({ versions: [] }), /spec\.versions must not be empty/],
      [
        '-',
        bad({ versions: [{ name: 'v1', schema: { openAPIV3Schema: { properties: { a: 3 } } } }] }),
        /spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\.a must be an object/,
      ],
      ['-', `${writeYaml(widget)}---\n${bad({ scope: 'Cluster' })}`, /is defined twice, in different ways/],
      ['nowhere.yaml', '', /nowhere\.yaml does not exist, and is not an API group such as cert-manager\.io/],
    ]
    for (const [source, input, message] of cases) {
      const { status, stderr } = types(project.path, [source], input)
      assert.match(stderr, message)
      assert.equal(stderr.split('\n').length, 2, stderr)
      assert.equal(status, 1)
    }
    assert.equal(types(project.path, []).status, 2)
    assert.ok(!existsSync(join(project.path, 'types')))
  })
})
