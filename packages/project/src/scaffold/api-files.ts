import type { GeneratedFile } from '../files/generated-file.ts'
import { type Insertion, markerOf } from './insert.ts'
import type { ProjectResource } from './project-file.ts'
import { extension } from './project-files.ts'

/** New files, and lines for files that exist. */
export interface ScaffoldParts {
  readonly files: readonly GeneratedFile[]
  readonly insertions: readonly Insertion[]
}

export const fileOf = (kind: string): string => kind.toLowerCase()

/** What `create api` adds for the first version of a kind. */
export function kindParts(resource: ProjectResource): ScaffoldParts {
  return { files: [{ path: resource.path, content: kindFile(resource) }], insertions: [] }
}

/** What `create api` adds for another version of a kind. */
export function versionParts(resource: ProjectResource): ScaffoldParts {
  const lines = versionLines(resource.version, { storage: false })
  return { files: [], insertions: [{ path: resource.path, marker: 'versions', lines }] }
}

function kindFile({ group, domain, version, kind, api }: ProjectResource): string {
  const lines = versionLines(version, { storage: true }).map(line => `    ${line}`)
  const scope = api?.namespaced === false ? "  scope: 'Cluster',\n" : ''
  return `import { defineKind, type KindOf, s } from 'coxswain'

export const ${kind} = defineKind({
  group: '${group}.${domain}',
  kind: '${kind}',
${scope}  versions: {
${lines.join('\n')}
    ${markerOf('versions')}
  },
  ${markerOf('conversions')}
})
export type ${kind} = KindOf<typeof ${kind}.${version}>
`
}

function versionLines(version: string, { storage }: { readonly storage: boolean }): string[] {
  return [
    `${version}: {`,
    ...(storage ? ['  storage: true,'] : []),
    '  spec: s.object({',
    '    // An example: replace it with the fields that users set, then run npm run manifests.',
    "    message: s.string({ maxLength: 1024 }).default('Ahoy').doc('What the status repeats.'),",
    '  }),',
    '  status: s.object({ conditions: s.conditions().optional() }),',
    '  columns: {',
    `    Ready: '.status.conditions[?(@.type=="Ready")].status',`,
    `    Age: '.metadata.creationTimestamp',`,
    '  },',
    '},',
  ]
}

/** What `create api` adds for the controller of a kind. */
export function controllerParts({ kind, version, api }: ProjectResource): ScaffoldParts {
  const file = fileOf(kind)
  return {
    files: [
      { path: `controllers/${file}${extension}`, content: controllerFile(kind, version) },
      {
        path: `controllers/${file}.test${extension}`,
        content: controllerTest({ kind, version, namespaced: api?.namespaced !== false }),
      },
    ],
    insertions: [
      {
        path: `operator${extension}`,
        marker: 'imports',
        lines: [`import { add${kind}Controller } from './controllers/${file}${extension}'`],
      },
      { path: `operator${extension}`, marker: 'controllers', lines: [`add${kind}Controller(operator)`] },
    ],
  }
}

const controllerFile = (
  kind: string,
  version: string,
) => `import { type OperatorBuilder, setStatusCondition } from 'coxswain'
import { ${kind} } from '../api/${fileOf(kind)}${extension}'

/** Adds the controller of ${kind} objects. */
export function add${kind}Controller(operator: OperatorBuilder): void {
  operator
    .controller('${fileOf(kind)}')
    .for(${kind}.${version})
    .rbac(${kind}.${version}, ['update'], { subresource: 'status' })
    .reconcile(async ({ key, client, clock, log }) => {
      const object = await client.get(${kind}.${version}, key)
      if (!object || object.metadata.deletionTimestamp) return
      log.info('reconciling', { generation: object.metadata.generation })

      // Create, update and delete here what the spec describes. Add .owns(Kind) above for the kinds that you create, and
      // .rbac(Kind, verbs) for what you do with them: coxswain manifests writes the roles from it.

      const conditions = structuredClone([...(object.status?.conditions ?? [])])
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'Reconciled',
        message: object.spec.message,
        observedGeneration: object.metadata.generation ?? 0,
      } as const
      if (setStatusCondition(conditions, ready, clock))
        await client.updateStatus(${kind}.${version}, { ...object, status: { ...object.status, conditions } })
    })
}
`

interface TestNames {
  readonly kind: string
  readonly version: string
  readonly namespaced: boolean
}

const controllerTest = ({ kind, version, namespaced }: TestNames) => `import { describe, it } from 'node:test'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import { ${kind} } from '../api/${fileOf(kind)}${extension}'
import operator from '../operator${extension}'

const key = { ${namespaced ? "namespace: 'default', " : ''}name: 'sample' }

describe('the ${fileOf(kind)} controller', () => {
  it('reports that an object is ready, and follows its changes', async () => {
    // An API server in this process, on a clock that the test moves: nothing is waited for, and every run is the same.
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
    const { client } = cluster
    await cluster.install(operator)
    cluster.start(operator)
    await cluster.advance(1_000)

    await cluster.run(client.create(${kind}.${version}, { metadata: key, spec: { message: 'first' } }))
    await cluster.advance(1_000)
    const ready = { type: 'Ready', status: 'True' } as const
    await cluster.expect(${kind}.${version}, key).toHave({ status: { conditions: [{ ...ready, message: 'first' }] } })

    await cluster.run(client.patch(${kind}.${version}, key, { spec: { message: 'second' } }))
    await cluster.advance(1_000)
    await cluster.expect(${kind}.${version}, key).toHave({ status: { conditions: [{ ...ready, message: 'second' }] } })
  })
})
`
