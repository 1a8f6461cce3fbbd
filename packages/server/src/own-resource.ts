import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  type PrinterColumn,
  type ResourceInfo,
  resourceInfoFromCrd,
  type SubresourceInfo,
  toCustomResourceDefinition,
  type Verb,
  type VersionInfo,
} from '@coxswain/apimachinery/kinds'
import { type ApiObject, formatGroupVersion } from '@coxswain/apimachinery/meta'
import { formatAge } from '@coxswain/apimachinery/time'
import type { OwnResource, OwnServer } from '@coxswain/apiserver'
import type { Env } from '@coxswain/kit'
import type { Strategy, StrategyContext } from '@coxswain/strategies'
import { createHub, type Hub } from './hub.ts'
import { createLookup } from './lookup.ts'
import type { ObjectLookup, ResourceDefinition, ResourceRules, RuleContext } from './resource.ts'
import { StoreOfObjects } from './storage/store-of-objects.ts'
import { createSubresourceHandlers } from './subresource-handlers.ts'

/** A resource as the API server takes it. */
export function toOwnResource(definition: ResourceDefinition, server: OwnServer, env: Env): OwnResource {
  const { options } = definition
  const { storage, virtual, subresources = {} } = options
  const info = infoOf(definition)
  const hub = createHub(definition)
  const objects = createLookup(server)
  const { group, resource } = info
  return {
    info,
    strategy: strategyOf(options.rules ?? {}, hub, objects),
    handlers: createSubresourceHandlers({ server, hub, objects }, subresources),
    ...(storage && { store: new StoreOfObjects({ env, storage, prefix: `/${group}/${resource}/` }) }),
    ...(virtual && {
      compute: async ({ info: { namespace }, user, request: { signal } }) => {
        const { kind } = definition.hub
        const apiVersion = formatGroupVersion(definition.hub)
        const objects = await virtual({ namespace, user, signal })
        const isAsked = ({ metadata }: (typeof objects)[number]) =>
          namespace === '' || metadata.namespace === namespace
        return objects.filter(isAsked).map(object => ({ apiVersion, kind, ...object }) as JsonObject)
      },
    }),
  }
}

const readVerbs: readonly Verb[] = ['get', 'list']

/** What the kind says of itself, with the columns, subresources and verbs of the definition. */
function infoOf({ kind, options }: ResourceDefinition): ResourceInfo {
  const { rules, subresources = {}, storage, virtual } = options
  const info = resourceInfoFromCrd(toCustomResourceDefinition(kind))
  if (storage && info.versions.some(({ scale }) => scale))
    throw new Error(`${info.kind} has a scale subresource, which needs the server's own store`)
  const own = Object.entries(subresources).map(([name, { verbs, kind: of }]): SubresourceInfo => {
    return { name, verbs: Object.keys(verbs) as Verb[], ...(of !== undefined && { kind: of }) }
  })
  const versions = info.versions.map((version): VersionInfo => {
    const taken = version.subresources.find(({ name }) => name in subresources)
    if (taken) throw new Error(`${info.kind} has the subresource ${taken.name} already`)
    return {
      ...version,
      ...(virtual && { verbs: readVerbs }),
      ...(rules?.columns && { columns: columnsOf(rules.columns) }),
      selectableFields: [...version.selectableFields, ...Object.keys(rules?.selectableFields ?? {})],
      subresources: [...version.subresources, ...own].sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
  })
  return { ...info, versions }
}

function columnsOf(columns: NonNullable<ResourceRules<ApiObject>['columns']>): PrinterColumn[] {
  return [
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    ...Object.entries(columns).map(([name, { type = 'string', priority = 0 }]) => ({ name, type, priority })),
    { name: 'Age', type: 'date', priority: 0 },
  ]
}

/** The rules as a strategy: over the hub, whatever the version of the request is. */
function strategyOf(rules: ResourceRules<ApiObject>, hub: Hub, objects: ObjectLookup): Strategy {
  const { prepare, validate, validateStatus, warn, columns, selectableFields } = rules
  const oldOf = (old: JsonObject | undefined) => old && hub.to(old)
  const contextOf = ({ clock, random, user, dryRun, warn: add }: StrategyContext): RuleContext => ({
    clock,
    random,
    user,
    dryRun,
    warn: add,
    objects,
  })
  return {
    convert: (object, apiVersion) => hub.convert(object, apiVersion),
    ...(prepare && {
      prepareForCreate: (object, context) =>
        hub.within(object, each => prepare(each, undefined, contextOf(context))),
      prepareForUpdate: (object, old, context) =>
        hub.within(object, each => prepare(each, hub.to(old), contextOf(context))),
    }),
    ...(validate && {
      validate: (object, context, old) => validate(hub.to(object), oldOf(old), contextOf(context)),
    }),
    ...(validateStatus && {
      validateStatusUpdate: (object, old, context) =>
        validateStatus(hub.to(object), hub.to(old), contextOf(context)),
    }),
    ...(warn && { warnings: (object, old) => warn(hub.to(object), oldOf(old)) }),
    ...(selectableFields && {
      fields: object => {
        const each = hub.to(object)
        return Object.fromEntries(Object.entries(selectableFields).map(([name, read]) => [name, read(each)]))
      },
    }),
    ...(columns && {
      cells: (object, now) => {
        const each = hub.to(object)
        const { name, creationTimestamp } = each.metadata
        const cells = Object.entries(columns).map(([title, { value }]) => [title, value(each)])
        return { Name: name, ...Object.fromEntries(cells), Age: formatAge(creationTimestamp, now) }
      },
    }),
  }
}
