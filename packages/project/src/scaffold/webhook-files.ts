import { fileOf, type ScaffoldParts } from './api-files.ts'
import type { ProjectResource } from './project-file.ts'
import { extension } from './project-files.ts'

/** What `create webhook` adds. */
export function webhookParts(resource: ProjectResource): ScaffoldParts {
  const { kind } = resource
  const file = fileOf(kind)
  return {
    files: [
      { path: `webhooks/${file}${extension}`, content: webhookFile(resource) },
      { path: `webhooks/${file}.test${extension}`, content: webhookTest(resource) },
    ],
    insertions: [
      {
        path: `operator${extension}`,
        marker: 'imports',
        lines: [`import { add${kind}Webhooks } from './webhooks/${file}${extension}'`],
      },
      { path: `operator${extension}`, marker: 'webhooks', lines: [`add${kind}Webhooks(operator)`] },
    ],
  }
}

/** What `create webhook --conversion` adds, also to a kind that has webhooks. */
export function conversionParts(resource: ProjectResource): ScaffoldParts {
  return {
    files: [{ path: `api/${fileOf(resource.kind)}.test${extension}`, content: conversionTest(resource) }],
    insertions: [{ path: resource.path, marker: 'conversions', lines: conversionLines(resource) }],
  }
}

function webhookFile({ kind, version, webhooks }: ProjectResource): string {
  const { defaulting, validation } = webhooks ?? {}
  const imports = validation ? 'import { field, type OperatorBuilder }' : 'import type { OperatorBuilder }'
  const calls = [
    `    .webhook(${kind}.${version})`,
    ...(defaulting ? defaultingLines : []),
    ...(validation ? validatingLines : []),
  ]
  const conversions =
    !defaulting && !validation ? ` Objects are converted as api/${fileOf(kind)}${extension} says.` : ''
  return `${imports} from 'coxswain'
import { ${kind} } from '../api/${fileOf(kind)}${extension}'

/** Adds the webhooks of ${kind} objects.${conversions} */
export function add${kind}Webhooks(operator: OperatorBuilder): void {
  operator
${calls.join('\n')}
}
`
}

const defaultingLines = [
  '    .default(object => {',
  '      // Set what users leave out. Constant values belong into api/, with .default(...).',
  '      object.spec.message = object.spec.message.trim()',
  '    })',
]

const validatingLines = [
  '    .validate(({ object }) => {',
  '      // Return what is wrong. What a schema or a CEL rule can say belongs into api/.',
  "      if (!object || object.spec.message.trim() !== '') return []",
  "      return [field.invalid(field.Path.of('spec', 'message'), object.spec.message, 'must not be blank')]",
  '    })',
]

function conversionLines({ version, webhooks }: ProjectResource): string[] {
  const spokes = (webhooks?.spoke ?? []).flatMap(other => [
    `    ${other}: {`,
    '      to: ({ spec, status }) => ({ spec, ...(status && { status }) }),',
    '      from: ({ spec, status }) => ({ spec, ...(status && { status }) }),',
    '    },',
  ])
  return [
    '// The versions have the same fields: change these when they no longer do. Metadata is kept.',
    'conversions: {',
    `  ${version}: {`,
    ...spokes,
    '  },',
    '},',
  ]
}

function webhookTest(resource: ProjectResource): string {
  const { kind, version, webhooks } = resource
  const { validation } = webhooks ?? {}
  const steps = [
    createStep(resource),
    `    assert.equal(made.spec.message, 'first')`,
    ...(validation
      ? [
          `    const blank = { spec: { message: ' ' } }`,
          `    await assert.rejects(cluster.run(cluster.client.patch(${kind}.${version}, key, blank)), /must not be blank/)`,
        ]
      : []),
  ]
  const title = `accept what is valid${validation ? ', and nothing else' : ''}`
  return testFile(resource, { folder: 'webhooks', subject: 'webhooks', title, steps })
}

function conversionTest(resource: ProjectResource): string {
  const steps = [
    createStep(resource),
    ...(resource.webhooks?.spoke ?? []).flatMap(other => [
      `    const ${other} = await cluster.run(cluster.client.get(${resource.kind}.${other}, key))`,
      `    assert.equal(${other}?.spec.message, made.spec.message)`,
    ]),
  ]
  return testFile(resource, { folder: 'api', subject: 'versions', title: 'are converted', steps })
}

function createStep({ kind, version }: ProjectResource): string {
  return `    const made = await cluster.run(cluster.client.create(${kind}.${version}, { metadata: key, spec: { message: 'first' } }))`
}

interface TestParts {
  readonly folder: 'api' | 'webhooks'
  readonly subject: string
  readonly title: string
  readonly steps: readonly string[]
}

function testFile({ kind, api }: ProjectResource, { folder, subject, title, steps }: TestParts): string {
  const key = api?.namespaced === false ? "{ name: 'sample' }" : "{ namespace: 'default', name: 'sample' }"
  const types = `${folder === 'api' ? './' : '../api/'}${fileOf(kind)}${extension}`
  return `import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import { ${kind} } from '${types}'
import operator from '../operator${extension}'

const key = ${key}

describe('the ${fileOf(kind)} ${subject}', () => {
  it('${title}', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
    await cluster.install(operator)
    cluster.start(operator)
    await cluster.advance(5_000)
${steps.join('\n')}
  })
})
`
}
