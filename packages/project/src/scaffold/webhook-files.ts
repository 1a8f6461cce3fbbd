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
      ...(resource.webhooks?.conversion
        ? [{ path: resource.path, marker: 'conversions', lines: conversionLines(resource) }]
        : []),
    ],
  }
}

function webhookFile({ kind, version, webhooks }: ProjectResource): string {
  const { defaulting, validation, conversion } = webhooks ?? {}
  const imports = validation ? 'import { field, type OperatorBuilder }' : 'import type { OperatorBuilder }'
  const calls = [
    `    .webhook(${kind}.${version})`,
    ...(defaulting ? defaultingLines : []),
    ...(validation ? validatingLines : []),
  ]
  const conversions = conversion ? ` Objects are converted as api/${fileOf(kind)}${extension} says.` : ''
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

function webhookTest({ kind, version, api, webhooks }: ProjectResource): string {
  const { validation, conversion, spoke = [] } = webhooks ?? {}
  const key = api?.namespaced === false ? "{ name: 'sample' }" : "{ namespace: 'default', name: 'sample' }"
  const [other] = spoke
  const steps = [
    `    const made = await cluster.run(cluster.client.create(${kind}.${version}, { metadata: key, spec: { message: 'first' } }))`,
    `    assert.equal(made.spec.message, 'first')`,
    ...(validation
      ? [
          `    const blank = { spec: { message: ' ' } }`,
          `    await assert.rejects(cluster.run(cluster.client.patch(${kind}.${version}, key, blank)), /must not be blank/)`,
        ]
      : []),
    ...(conversion && other !== undefined
      ? [
          `    const converted = await cluster.run(cluster.client.get(${kind}.${other}, key))`,
          `    assert.equal(converted?.spec.message, 'first')`,
        ]
      : []),
  ]
  return `import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import { ${kind} } from '../api/${fileOf(kind)}${extension}'
import operator from '../operator${extension}'

const key = ${key}

describe('the ${fileOf(kind)} webhooks', () => {
  it('accept what is valid${validation ? ', and nothing else' : ''}', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
    await cluster.install(operator)
    cluster.start(operator)
    await cluster.advance(5_000)
${steps.join('\n')}
  })
})
`
}
