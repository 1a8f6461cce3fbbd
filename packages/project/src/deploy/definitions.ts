import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import { isClientError, waitFor } from '@coxswain/client'
import { ProjectError } from '../errors.ts'
import { formatName, type Manifest, nameOf } from './object-name.ts'
import { callOptions, type DeployTarget } from './target.ts'

type Definition = KindOf<typeof CustomResourceDefinition>

/** The kind that a CustomResourceDefinition defines; undefined for other objects. */
export function definitionOf(
  manifest: Manifest,
): { readonly group: string; readonly kind: string } | undefined {
  const { group, kind } = nameOf(manifest)
  if (group !== 'apiextensions.k8s.io' || kind !== 'CustomResourceDefinition') return undefined
  const spec = (manifest.spec ?? {}) as { group?: string; names?: { kind?: string } }
  return { group: spec.group ?? '', kind: spec.names?.kind ?? '' }
}

/** Resolves when the server serves the kinds. Rejects with `NotEstablished`, and the server's reason. */
export async function waitEstablished(
  target: DeployTarget,
  definitions: readonly Manifest[],
  left: () => number,
): Promise<void> {
  if (definitions.length === 0) return
  for (const manifest of definitions) {
    const { client, env } = target
    const what = { kind: CustomResourceDefinition, key: { name: manifest.metadata.name } }
    let last: Definition | undefined
    const look = (definition: Definition | undefined): boolean => {
      last = definition
      return conditionOf(definition, 'Established')?.status === 'True'
    }
    await waitFor(client, env, what, look, { ...callOptions(target), timeout: left() }).catch(error => {
      if (!isClientError(error, 'WaitTimeout')) throw error
      const text = `${formatName(nameOf(manifest))} is not established: ${whyNot(last)}`
      throw new ProjectError('NotEstablished', text, { cause: error })
    })
    target.onProgress({ type: 'established', object: nameOf(manifest) })
  }
  target.discovery.invalidate()
}

function conditionOf(definition: Definition | undefined, type: string) {
  return definition?.status?.conditions?.find(condition => condition.type === type)
}

function whyNot(definition: Definition | undefined): string {
  if (!definition) return 'it was deleted'
  const problems = [
    'NamesAccepted',
    'NonStructuralSchema',
    'KubernetesAPIApprovalPolicyConformant',
    'Terminating',
  ]
    .map(type => conditionOf(definition, type))
    .filter(condition => {
      const bad = condition?.type === 'NonStructuralSchema' || condition?.type === 'Terminating'
      return condition?.status === (bad ? 'True' : 'False')
    })
    .map(condition => condition?.message || condition?.reason)
  if (problems.length > 0) return problems.join('; ')
  return (
    conditionOf(definition, 'Established')?.message || 'the server has not accepted it yet; raise --timeout'
  )
}
