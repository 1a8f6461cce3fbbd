import { ProjectError } from '../errors.ts'
import type { GeneratedFile } from '../files/generated-file.ts'
import { fileOf } from './api-files.ts'
import type { ProjectFile } from './project-file.ts'
import { extension } from './project-files.ts'

/** A kubectl plug-in for the first kind of a project: an executable `kubectl-NAME`. Throws `BadName`. */
export function pluginFiles({ resources }: ProjectFile, name: string): GeneratedFile[] {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(name))
    throw new ProjectError(
      'BadName',
      `${name}: must be lower-case letters, digits and _, which kubectl reads as -`,
    )
  const [resource] = resources
  if (!resource) throw new ProjectError('BadName', 'there is no kind yet: run coxswain create api first')
  const { kind, version, api } = resource
  const namespaced = api?.namespaced !== false
  const content = `#!/usr/bin/env node
// kubectl finds programs in PATH whose names begin with kubectl-: run it as kubectl ${name.replaceAll('_', '-')}
import { parseArgs } from 'node:util'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { ${kind} } from '../api/${fileOf(kind)}${extension}'

const { values } = parseArgs({
  options: {
    namespace: { type: 'string', short: 'n' },
    kubeconfig: { type: 'string' },
    context: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  console.log('Usage: kubectl ${name.replaceAll('_', '-')} [-n NAMESPACE] [--context NAME] [--kubeconfig FILE]')
  process.exit(0)
}

const { kubeconfig, context } = values
await using cluster = await createClientFromKubeconfig({
  ...(kubeconfig !== undefined && { kubeconfig }),
  ...(context !== undefined && { context }),
})
${namespaced ? 'const namespace = values.namespace ?? cluster.namespace\n' : ''}for await (const object of cluster.client.listAll(${kind}.${version}${namespaced ? ', { namespace }' : ''})) {
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready')
  console.log(\`\${object.metadata.name}\\t\${ready?.status ?? 'Unknown'}\\t\${ready?.message ?? ''}\`)
}
`
  return [{ path: `plugins/kubectl-${name}${extension}`, content, executable: true }]
}
