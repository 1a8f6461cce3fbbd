import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type CustomResourceDefinition,
  definedKindOf,
  type Kind,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
import { formatGroupVersion } from '@coxswain/apimachinery/meta'
import {
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  type StatusError,
} from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import { RuntimeError } from './errors.ts'
import { describeOperator, type Operator, type OperatorDefinition } from './operator.ts'
import type { InstalledConversion } from './webhook/injector.ts'
import { type CrdObject, crdKind, fieldManager } from './webhook/kinds.ts'

/** The result for one CustomResourceDefinition. */
export interface InstalledKind {
  /** The name of the CRD: `ats.cnat.example.com`. */
  readonly name: string
  readonly change: 'created' | 'updated' | 'unchanged'
}

/** Options of {@link installKinds}. */
export interface InstallOptions {
  /**
   * The conversion of a kind that has one, given the existing CRD. The CRD is written together with it.
   * @default kinds with conversions are not installed
   */
  readonly conversionFor?: (name: string, existing: CrdObject | undefined) => Promise<InstalledConversion>
  readonly signal?: AbortSignal
}

/**
 * Applies the CustomResourceDefinitions of the kinds that the operators reconcile or have webhooks for, server-side. Only
 * kinds of `defineKind` have any. The CRD of a kind with conversions is written together with its conversion webhook:
 * without it the server would drop the fields that another version does not have.
 * @throws RuntimeError `UnsafeInstall` before anything is written, when stored objects would be lost or unreadable
 */
export async function installKinds(
  client: Client,
  operators: readonly Operator[],
  options: InstallOptions = {},
): Promise<InstalledKind[]> {
  return await installDefinitions(client, operators.map(describeOperator), options)
}

/** Like `installKinds`, for operators as data. */
export async function installDefinitions(
  client: Client,
  operators: readonly OperatorDefinition[],
  { conversionFor, signal }: InstallOptions = {},
): Promise<InstalledKind[]> {
  const call = signal ? { signal } : {}
  const plans: { existing: CrdObject | undefined; wanted: CustomResourceDefinition }[] = []
  for (const { crd, isConverted } of crdsOf(operators)) {
    const { name } = crd.metadata
    const existing = await client.get(crdKind, { name }, call)
    if (existing) checkUpdate(existing, crd)
    else await checkCreate(client, crd, call)
    if (isConverted && !conversionFor) {
      throw new RuntimeError(
        'UnsafeInstall',
        `customresourcedefinition ${name} has conversions and is installed by the host of its webhooks: run the operator with the install option`,
      )
    }
    const converted = isConverted ? await conversionFor?.(name, existing) : undefined
    plans.push({ existing, wanted: converted ? withConversion(crd, converted) : crd })
  }
  const names = operators.map(({ name }) => name)
  const installed: InstalledKind[] = []
  for (const { existing, wanted } of plans) {
    const applied = await apply(client, wanted, { ...call, names })
    const { name } = wanted.metadata
    installed.push({
      name,
      change: !existing ? 'created' : isSame(existing, applied) ? 'unchanged' : 'updated',
    })
  }
  return installed
}

/** CRDs that an installation would change, by name. */
export interface KindsToInstall {
  readonly missing: readonly string[]
  /** They exist, and would be updated. */
  readonly outdated: readonly string[]
}

/** Which CRDs of these operators `installKinds` would create or update. Changes nothing. */
export async function findKindsToInstall(
  client: Client,
  operators: readonly Operator[],
): Promise<KindsToInstall> {
  const missing: string[] = []
  const outdated: string[] = []
  for (const { crd } of crdsOf(operators.map(describeOperator))) {
    const { name } = crd.metadata
    const existing = await client.get(crdKind, { name })
    if (!existing) missing.push(name)
    else if (await isOutdated(client, existing, crd)) outdated.push(name)
  }
  return { missing, outdated }
}

/** The conversion is ignored: the host of the webhooks writes it. */
async function isOutdated(
  client: Client,
  existing: CrdObject,
  crd: CustomResourceDefinition,
): Promise<boolean> {
  const options = { fieldManager, force: true, dryRun: true }
  try {
    const applied = await client.apply(crdKind, crd, options)
    const view = ({ spec }: CrdObject) => ({ ...spec, conversion: undefined })
    return !deepEqual(view(existing), view(applied))
  } catch (error) {
    if (isForbidden(error)) return false // this user may only read
    if (isInvalid(error)) return true
    throw error
  }
}

function crdsOf(
  operators: readonly OperatorDefinition[],
): { readonly crd: CustomResourceDefinition; readonly isConverted: boolean }[] {
  const kinds = new Set<Kind>()
  const converted = new Set<unknown>()
  for (const { controllers, webhooks } of operators) {
    for (const controller of controllers) if (controller.for) kinds.add(controller.for)
    for (const { kind, conversions } of webhooks) {
      kinds.add(kind)
      if (conversions.length > 0) converted.add(definedKindOf(kind))
    }
  }
  const defined = new Set([...kinds].map(definedKindOf))
  return [...defined].flatMap(each =>
    each ? [{ crd: toCustomResourceDefinition(each), isConverted: converted.has(each) }] : [],
  )
}

function withConversion(
  { metadata, spec, ...rest }: CustomResourceDefinition,
  { conversion, annotations }: InstalledConversion,
): CustomResourceDefinition {
  return {
    ...rest,
    metadata: annotations
      ? { ...metadata, annotations: { ...metadata.annotations, ...annotations } }
      : metadata,
    spec: { ...spec, conversion },
  }
}

/** Fields of other managers are not taken over, except those that this program owned under another name. */
async function apply(
  client: Client,
  crd: CustomResourceDefinition,
  { signal, names }: { readonly signal?: AbortSignal; readonly names: readonly string[] },
): Promise<CrdObject> {
  const options = { fieldManager, ...(signal && { signal }) }
  try {
    return await client.apply(crdKind, crd, options)
  } catch (error) {
    if (!isConflict(error)) throw error
    const managers = conflictingManagers(error)
    const others = managers.filter(manager => !isOwn(manager, names))
    if (managers.length > 0 && others.length === 0)
      return await client.apply(crdKind, crd, { ...options, force: true })
    const who = [...new Set(others)].join(', ')
    throw new RuntimeError(
      'UnsafeInstall',
      `customresourcedefinition ${crd.metadata.name} is also managed by ${who}: ${(error as Error).message}. Update it there, or remove its fields from that manager first`,
      { cause: error },
    )
  }
}

function isOwn(manager: string, operators: readonly string[]): boolean {
  return manager === fieldManager || manager.startsWith(`${fieldManager}-`) || operators.includes(manager)
}

function conflictingManagers(error: unknown): string[] {
  const causes = (error as StatusError).status?.details?.causes ?? []
  return causes.flatMap(({ message = '' }) => /^conflict with "([^"]*)"/.exec(message)?.[1] ?? [])
}

function isSame(before: CrdObject, after: CrdObject): boolean {
  const view = ({ metadata, spec }: CrdObject) => ({
    spec,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
  })
  return deepEqual(view(before), view(after))
}

/** Rejects changes that would break stored objects. */
function checkUpdate(existing: CrdObject, { metadata, spec }: CustomResourceDefinition): void {
  const { name } = metadata
  const refuse = (problem: string): never => {
    throw new RuntimeError('UnsafeInstall', `customresourcedefinition ${name} was not updated: ${problem}`)
  }
  const present = existing.spec
  if (present?.scope !== undefined && present.scope !== spec.scope)
    refuse(
      `its scope would change from ${present.scope} to ${spec.scope}, and stored objects would become unreadable. Keep the scope, or back up the objects, delete the CRD (which deletes them) and install it again`,
    )
  if (present?.names?.kind !== undefined && present.names.kind !== spec.names.kind)
    refuse(
      `its kind would change from ${present.names.kind} to ${spec.names.kind}, and clients could not read the stored objects. Keep the kind, or give the new one its own plural`,
    )
  const versions = new Set(spec.versions.map(version => version.name))
  const lost = (existing.status?.storedVersions ?? []).filter(version => !versions.has(version))
  if (lost.length === 0) return
  const storage = spec.versions.find(version => version.storage)?.name
  refuse(
    `objects may be stored in ${lost.join(', ')} (status.storedVersions), which the kind no longer has. Keep the version with served: false, write every object once so that it is stored in ${storage}, set status.storedVersions to ["${storage}"], then remove the version`,
  )
}

/** Rejects a kind that the server already serves under another plural: its objects are stored there. */
async function checkCreate(
  client: Client,
  { metadata, spec }: CustomResourceDefinition,
  call: { readonly signal?: AbortSignal },
): Promise<void> {
  const { group, names } = spec
  for (const version of spec.versions) {
    const path = `/apis/${formatGroupVersion({ group, version: version.name })}`
    const found = (await client.raw.request({ path, ...call }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      return undefined
    })) as { resources?: readonly { name: string; kind: string }[] } | undefined
    const other = found?.resources?.find(({ name, kind }) => kind === names.kind && !name.includes('/'))
    if (!other || other.name === names.plural) continue
    throw new RuntimeError(
      'UnsafeInstall',
      `customresourcedefinition ${metadata.name} was not created: ${names.kind} is served as ${other.name}.${group}, and the objects stored there would not be found. Keep the plural ${other.name}, or back up the objects and delete ${other.name}.${group} (which deletes them) first`,
    )
  }
}
