import * as field from '@coxswain/apimachinery/field'
import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newConflict,
  newInvalid,
  newNotFound,
  optimisticLockMessage,
} from '@coxswain/apimachinery/status'
import type { Claim } from '@coxswain/strategies'
import type { WireResponse } from '@coxswain/wire'
import { createAttributes, writeOptionsObject } from '../admission/create-attributes.ts'
import { View } from '../read/view.ts'
import { applyDefaults } from '../registry/apply-defaults.ts'
import type { Endpoint } from '../registry/registry.ts'
import { objectKey } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { readBody } from './body.ts'
import { createObject, kindOf, strategyContextOf } from './create.ts'
import { guaranteedUpdate, type UpdateOutcome } from './guaranteed-update.ts'
import { receiveObject } from './incoming.ts'
import {
  dedupeOwners,
  metadataOf,
  placeInNamespace,
  prepareForPartUpdate,
  prepareForStatusUpdate,
  prepareForUpdate,
  validateObject,
} from './lifecycle.ts'
import { trackUpdate } from './managed-fields.ts'

export async function handleUpdate(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { state, info } = context
  const { resource } = endpoint
  const view = new View(context, endpoint)
  const options = parseWriteOptions(context, 'UpdateOptions')
  const received = receiveObject(
    context,
    endpoint,
    readBody(context, resource.custom, kindOf(endpoint)),
    options,
  )
  checkName(context, metadataOf(received).name)
  if (metadataOf(received).resourceVersion === '0') delete metadataOf(received).resourceVersion
  placeInNamespace(resource, received, info.namespace)
  const wanted = metadataOf(received)

  await state.cache.fresh()
  if (!resource.cache.get(objectKey(resource, info.namespace, info.name))) {
    if (!resource.strategy.createOnUpdate || info.subresource !== '')
      throw newNotFound(resource.info, info.name)
    delete wanted.resourceVersion
    return view.object(201, await createObject(context, endpoint, received, options))
  }
  requireVersion(endpoint, wanted.resourceVersion, info.name)
  const result = await guaranteedUpdate(state, {
    endpoint,
    namespace: info.namespace,
    name: info.name,
    dryRun: options.dryRun,
    conditional: () => Boolean(wanted.resourceVersion),
    change: current => {
      checkVersion(resource.info, current, wanted.resourceVersion)
      checkUid(endpoint, current, wanted.uid)
      return changeObject(context, endpoint, deepClone(received), current, options)
    },
  })
  return view.object(200, result)
}

/** The body has to be about the object of the path. */
export function checkName({ info }: ResourceContext, name: string | undefined): void {
  if (!name) {
    throw newBadRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (name === info.name) return
  throw newBadRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`)
}

/** A stale version is a conflict in the words every client knows. */
export function checkVersion(
  resource: { readonly group: string; readonly resource: string },
  current: JsonObject,
  version: string | undefined,
): void {
  if (version && version !== metadataOf(current).resourceVersion) {
    throw newConflict(resource, metadataOf(current).name ?? '', optimisticLockMessage)
  }
}

/** Where upstream keeps kinds whose folder is not named after them; clients see it in a conflict. */
const folders: Readonly<Record<string, string>> = {
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/replicationcontrollers': 'controllers',
  '/services': 'services/specs',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
}

/** Throws a 409 when the client means another object of the same name. */
export function checkUid({ resource }: Endpoint, current: JsonObject, wanted: string | undefined): void {
  const { uid = '', name = '', namespace } = metadataOf(current)
  if (!wanted || wanted === uid) return
  const { group, resource: plural } = resource.info
  const folder = resource.custom ? `${group}/${plural}` : (folders[`${group}/${plural}`] ?? plural)
  const key = ['/registry', folder, ...(namespace ? [namespace] : []), name].join('/')
  const detail = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`
  throw newConflict(
    resource.info,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`,
  )
}

function requireVersion({ resource }: Endpoint, version: string | undefined, name: string): void {
  if (version || resource.strategy.unconditionalUpdate !== false) return
  throw newInvalid({ group: resource.info.group, kind: resource.info.resource }, name, [
    field.invalid(field.Path.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
  ])
}

/** Takes the wished-for object through admission and validation, for the main resource or its status. */
export async function changeObject(
  context: ResourceContext,
  endpoint: Endpoint,
  object: JsonObject,
  old: JsonObject,
  options: WriteOptions,
): Promise<UpdateOutcome> {
  const { state, info } = context
  const { resource } = endpoint
  const attributes = createAttributes(context, endpoint, {
    operation: 'UPDATE',
    object,
    oldObject: old,
    dryRun: options.dryRun,
    options: writeOptionsObject(context, 'UpdateOptions'),
  })
  dedupeOwners(context, object)
  if (!options.applied) {
    trackUpdate(state, endpoint, {
      object,
      old,
      manager: options.fieldManager,
      subresource: options.subresource ?? info.subresource,
    })
  }
  if (!options.admittedAs) await state.admission.mutate(attributes)
  dedupeOwners(context, object, 'after mutating admission happens')
  applyDefaults(endpoint, object)
  const strategyContext = strategyContextOf(context, options.dryRun)
  let claim: Claim | undefined
  if (resource.strategy.subresources?.[info.subresource])
    prepareForPartUpdate(strategyContext, endpoint, object, old, info.subresource)
  else if (info.subresource === 'status') prepareForStatusUpdate(strategyContext, endpoint, object, old)
  else {
    claim = await resource.strategy.claim?.(object, old, strategyContext)
    await prepareForUpdate(strategyContext, endpoint, object, old)
  }
  metadataOf(object).resourceVersion = metadataOf(old).resourceVersion!
  validateObject(strategyContext, endpoint, object, { old, subresource: info.subresource })
  const { warnings, statusWarnings = warnings } = resource.strategy
  const warningsOf = info.subresource === 'status' ? statusWarnings : warnings
  context.warnings.pushAll(warningsOf?.(object, old) ?? [])
  await state.admission.validate(options.admittedAs?.(object) ?? attributes)
  return isFinished(endpoint, object)
    ? { type: 'delete', object }
    : { type: 'put', object, ...(claim && { claim }) }
}

/** Whether an object that is being deleted has nothing left to wait for. */
export function isFinished({ resource }: Endpoint, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadataOf(object)
  if (deletionTimestamp === undefined || finalizers?.length || deletionGracePeriodSeconds) return false
  return !resource.strategy.holdsDeletion?.(object)
}
