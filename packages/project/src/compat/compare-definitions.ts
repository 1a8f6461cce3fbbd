import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import type { ReadDefinition } from '../definitions/read-definition.ts'
import { compareSchemas } from './compare-schemas.ts'
import type { CompatFinding } from './finding.ts'

type Report = (finding: Omit<CompatFinding, 'definition'>) => void

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** How replacing the CRDs `old` by `next` affects manifests, clients and stored objects. CRDs that are only in `next` are new. */
export function compareAllDefinitions(
  old: readonly ReadDefinition[],
  next: readonly CustomResourceDefinition[],
): CompatFinding[] {
  return old.flatMap(before => {
    const after = next.find(({ metadata }) => metadata.name === before.metadata.name)
    return after === undefined
      ? [
          {
            severity: 'error' as const,
            definition: before.metadata.name,
            path: 'metadata.name',
            problem: 'the definition was removed: deleting it deletes every object of the kind',
            remedy: 'Keep the definition until no object is left',
          },
        ]
      : compareDefinitions(before, after)
  })
}

/** How replacing one CRD by another of its name affects manifests, clients and stored objects. */
export function compareDefinitions(old: ReadDefinition, next: CustomResourceDefinition): CompatFinding[] {
  const found: CompatFinding[] = []
  const report: Report = finding => found.push({ definition: next.metadata.name, ...finding })
  compareNames(old.spec, next.spec, report)
  compareConversion(old.spec, next.spec, report)
  for (const version of old.spec.versions) {
    const kept = next.spec.versions.find(({ name }) => name === version.name)
    if (kept === undefined) reportRemoved(version, { old, next, report })
    else compareVersions(version, kept, report)
  }
  return found
}

function compareNames(
  old: CustomResourceDefinitionSpec,
  next: CustomResourceDefinitionSpec,
  report: Report,
): void {
  if (old.scope !== next.scope)
    report({
      severity: 'error',
      path: 'spec.scope',
      problem: `the scope was ${old.scope} and is ${next.scope}: servers reject the change, and stored objects would be unreadable`,
      remedy: 'Keep the scope, or define another kind',
    })
  if (old.names.kind !== next.names.kind)
    report({
      severity: 'error',
      path: 'spec.names.kind',
      problem: `the kind was ${old.names.kind} and is ${next.names.kind}: manifests and stored objects name the old one`,
      remedy: 'Keep the kind, or define another one with its own plural',
    })
  for (const name of ['singular', 'listKind'] as const) {
    const fallback = (names: typeof old.names) =>
      name === 'singular' ? names.kind.toLowerCase() : `${names.kind}List`
    const [was, is] = [old.names[name] ?? fallback(old.names), next.names[name] ?? fallback(next.names)]
    if (was !== is && old.names.kind === next.names.kind)
      report({
        severity: 'warning',
        path: `spec.names.${name}`,
        problem: `it was ${was} and is ${is}: scripts and clients that use the old name fail`,
        remedy: 'Keep the name',
      })
  }
  for (const list of ['shortNames', 'categories'] as const) {
    const gone = (old.names[list] ?? []).filter(name => next.names[list]?.includes(name) !== true)
    if (gone.length > 0)
      report({
        severity: list === 'shortNames' ? 'warning' : 'note',
        path: `spec.names.${list}`,
        problem: `${gone.join(', ')} no longer ${gone.length === 1 ? 'works' : 'work'} with kubectl`,
        remedy: 'Keep the names',
      })
  }
}

function compareConversion(
  old: CustomResourceDefinitionSpec,
  next: CustomResourceDefinitionSpec,
  report: Report,
): void {
  if (old.preserveUnknownFields === true && next.preserveUnknownFields !== true)
    report({
      severity: 'error',
      path: 'spec.preserveUnknownFields',
      problem: 'unknown fields were kept and are dropped now',
      remedy: 'Set x-kubernetes-preserve-unknown-fields in the schema where they are used',
    })
  if (old.conversion?.strategy !== 'Webhook' || next.conversion?.strategy === 'Webhook') return
  report({
    severity: next.versions.length > 1 || old.versions.length > 1 ? 'error' : 'note',
    path: 'spec.conversion',
    problem:
      'the conversion webhook was removed: the server only changes the apiVersion, and drops the fields that the other version does not have',
    remedy: 'Keep the conversion until every stored object and every client uses one version',
  })
}

interface Removal {
  readonly old: ReadDefinition
  readonly next: CustomResourceDefinition
  readonly report: Report
}

function reportRemoved(version: CustomResourceDefinitionVersion, { old, next, report }: Removal): void {
  const stored = old.status?.storedVersions
  const isStored = stored?.includes(version.name) ?? version.storage
  const storage = next.spec.versions.find(({ storage }) => storage)?.name ?? 'the storage version'
  if (isStored) {
    const why = stored === undefined ? 'it was the storage version' : 'status.storedVersions names it'
    report({
      severity: 'error',
      version: version.name,
      path: 'spec.versions',
      problem: `the version was removed while objects may be stored in it (${why}): servers reject the change, and could not read the objects`,
      remedy: `Keep it with served: false, write every object once so that it is stored in ${storage}, set status.storedVersions to ["${storage}"], then remove it`,
    })
  } else {
    report({
      severity: version.served ? 'error' : 'note',
      version: version.name,
      path: 'spec.versions',
      problem: version.served
        ? 'the version was removed: manifests and clients that use it are rejected'
        : 'the version was removed; it was not served',
      remedy: version.served
        ? 'Mark it deprecated first, then set served: false, then remove it'
        : 'Nothing has to be done',
    })
  }
}

function compareVersions(
  old: CustomResourceDefinitionVersion,
  next: CustomResourceDefinitionVersion,
  report: Report,
): void {
  const version = old.name
  if (old.served && !next.served)
    report({
      severity: 'error',
      version,
      path: 'spec.versions',
      problem: 'the version is not served any more: manifests and clients that use it are rejected',
      remedy: 'Mark it deprecated and serve it until they moved to another version',
    })
  if (old.storage && !next.storage)
    report({
      severity: 'note',
      version,
      path: 'spec.versions',
      problem:
        'new objects are stored in another version; existing ones stay in this one until they are written again',
      remedy: 'Keep the version until status.storedVersions no longer names it',
    })
  compareSubresources(old, next, report)
  for (const field of missing(old.selectableFields, next.selectableFields))
    report({
      severity: 'error',
      version,
      path: 'selectableFields',
      problem: `${field} is no longer selectable: lists and watches with that field selector are rejected`,
      remedy: 'Keep the selectable field',
    })
  for (const path of missing(old.additionalPrinterColumns, next.additionalPrinterColumns))
    report({
      severity: 'note',
      version,
      path: 'additionalPrinterColumns',
      problem: `the column of ${path} is no longer printed`,
      remedy: 'Scripts should not read columns',
    })
  const schemas = [old, next].map(({ schema }) => schema?.openAPIV3Schema ?? anything) as [Schema, Schema]
  for (const finding of compareSchemas(...schemas)) report({ version, ...finding })
}

function missing(
  old: readonly { readonly jsonPath: string }[] | undefined,
  next: readonly { readonly jsonPath: string }[] | undefined,
): string[] {
  const kept = new Set(next?.map(({ jsonPath }) => jsonPath))
  return (old ?? []).map(({ jsonPath }) => jsonPath).filter(path => !kept.has(path))
}

function compareSubresources(
  { name: version, subresources: old = {} }: CustomResourceDefinitionVersion,
  { subresources: next = {} }: CustomResourceDefinitionVersion,
  report: Report,
): void {
  const path = 'subresources'
  for (const subresource of ['status', 'scale'] as const)
    if (old[subresource] !== undefined && next[subresource] === undefined)
      report({
        severity: 'error',
        version,
        path: `${path}.${subresource}`,
        problem: `the subresource was removed: requests to /${subresource} answer 404`,
        remedy: 'Keep the subresource',
      })
  if (old.status === undefined && next.status !== undefined)
    report({
      severity: 'warning',
      version,
      path: `${path}.status`,
      problem: 'the subresource is new: writes of the whole object no longer change the status',
      remedy: 'Let controllers write /status',
    })
  for (const key of ['specReplicasPath', 'statusReplicasPath', 'labelSelectorPath'] as const)
    if (old.scale && next.scale && old.scale[key] !== next.scale[key])
      report({
        severity: 'warning',
        version,
        path: `${path}.scale.${key}`,
        problem: `it was ${old.scale[key] ?? 'absent'} and is ${next.scale[key] ?? 'absent'}: autoscalers and kubectl scale use another field`,
        remedy: 'Keep the path',
      })
}
