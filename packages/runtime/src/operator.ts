import { conversionsOfKind, definedKindOf, type Kind, type KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { IndexFunction, Transform } from '@coxswain/informers'
import type { Env } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import type { CacheDefaults, CacheScope, KindCacheOptions } from './cache.ts'
import {
  type ControllerBuilder,
  type ControllerDefinition,
  createControllerBuilder,
} from './controller-builder.ts'
import { RuntimeError } from './errors.ts'
import type { EventRecorder } from './event-recorder.ts'
import { kindKey } from './internal/kind-key.ts'
import type { MetricsRegistry } from './metrics/registry.ts'
import type { OperatorClient } from './operator-client.ts'
import type { RbacOptions, RbacRule, RbacTarget, RbacVerb } from './rbac.ts'
import {
  createWebhookBuilder,
  type DraftWebhook,
  type WebhookBuilder,
  type WebhookDefinition,
} from './webhook/webhook-builder.ts'

/** A program for a cluster. It starts nothing by itself: a host runs it. */
export interface Operator {
  readonly name: string
  readonly setup: (operator: OperatorBuilder) => void
}

/** Something that runs beside the controllers. */
export type Task = (context: TaskContext) => Promise<void>

/** What a task works with. */
export interface TaskContext {
  readonly client: OperatorClient
  readonly env: Env
  readonly events: EventRecorder
  /** For metrics of your own. */
  readonly metrics: MetricsRegistry
  /** Aborts when the operator stops. */
  readonly signal: AbortSignal
}

/** Options of a task. */
export interface TaskOptions {
  /** Only the replica that leads runs it. @default true */
  readonly needsLeader?: boolean
}

/** Throws, or rejects, when something is wrong. */
export type HealthCheck = () => Promise<void> | void

/** {@link KindCacheOptions} with transforms over the kind's own type. */
export type CacheOptionsOf<K extends Kind> = Omit<KindCacheOptions, 'kind' | 'namespaces' | 'transform'> & {
  readonly transform?: Transform<KindOf<K>>
  readonly namespaces?: readonly string[] | Readonly<Record<string, CacheScopeOf<K>>>
}

type CacheScopeOf<K extends Kind> = Omit<CacheScope, 'transform'> & {
  readonly transform?: Transform<KindOf<K>>
}

/** Describes an operator step by step. */
export interface OperatorBuilder {
  /** Describes a controller; its `reconcile` ends the description. */
  controller(name: string): ControllerBuilder
  /** Describes the webhooks of one version of a kind: defaults, validation, conversion. */
  webhook<K extends Kind>(kind: K): WebhookBuilder<K>
  /** Makes cached lists of `kind` by this field possible: `client.list(kind, { fields: { [field]: value } })`. */
  index<K extends Kind>(kind: K, field: string, valuesOf: IndexFunction<KindOf<K>>): void
  /** How a kind is cached: which objects, in which namespaces, in which form. */
  cache<K extends Kind>(kind: K, options: CacheOptionsOf<K>): void
  /** How kinds without options of their own are cached. */
  cacheDefaults(defaults: CacheDefaults): void
  /** Something that runs as long as the operator does. When it fails, the operator fails. */
  task(name: string, task: Task, options?: TaskOptions): void
  /** What its tasks and webhooks do: `operator.rbac(ConfigMap, ['get'])`. `coxswain manifests` writes it into the manager's role. */
  rbac(target: RbacTarget, verbs: readonly RbacVerb[], options?: RbacOptions): void
  /** Answers requests for a path of the metrics server, with the access checks of `/metrics`. */
  metricsHandler(path: string, handler: Handler): void
  /** A check of `/healthz`. */
  healthCheck(name: string, check: HealthCheck): void
  /** A check of `/readyz`. */
  readyCheck(name: string, check: HealthCheck): void
}

/** An operator as data. */
export interface OperatorDefinition {
  readonly name: string
  readonly controllers: readonly ControllerDefinition[]
  readonly webhooks: readonly WebhookDefinition[]
  readonly indexes: readonly {
    readonly kind: Kind
    readonly field: string
    readonly valuesOf: IndexFunction<ApiObject>
  }[]
  readonly caches: readonly KindCacheOptions[]
  readonly cacheDefaults: CacheDefaults
  readonly tasks: readonly { readonly name: string; readonly task: Task; readonly needsLeader: boolean }[]
  readonly rbac: readonly RbacRule[]
  readonly metricsHandlers: ReadonlyMap<string, Handler>
  readonly healthChecks: ReadonlyMap<string, HealthCheck>
  readonly readyChecks: ReadonlyMap<string, HealthCheck>
}

/** Describes an operator: its `setup` declares controllers, webhooks, caches and tasks. It is called by each host that runs or inspects it: keep its state inside. */
export function defineOperator(name: string, setup: (operator: OperatorBuilder) => void): Operator {
  return { name, setup }
}

/** Calls an operator's `setup` and returns its definition. */
export function describeOperator(operator: Operator): OperatorDefinition {
  const controllers: ControllerDefinition[] = []
  const begun = new Set<string>()
  const webhooks = new Map<string, DraftWebhook>()
  const indexes: { kind: Kind; field: string; valuesOf: IndexFunction<ApiObject> }[] = []
  const caches: KindCacheOptions[] = []
  let cacheDefaults: CacheDefaults = {}
  const tasks: { name: string; task: Task; needsLeader: boolean }[] = []
  const rbac: RbacRule[] = []
  const metricsHandlers = new Map<string, Handler>()
  const healthChecks = new Map<string, HealthCheck>()
  const readyChecks = new Map<string, HealthCheck>()
  const returned: unknown = operator.setup({
    controller: name => {
      if (begun.has(name)) throw new RuntimeError('BadDefinition', `there are two controllers ${name}`)
      begun.add(name)
      return createControllerBuilder(name, definition => controllers.push(definition))
    },
    webhook: kind => {
      const id = kindKey(kind)
      if (webhooks.has(id)) throw new RuntimeError('BadDefinition', `there are two webhooks for ${id}`)
      const draft: DraftWebhook = { kind, defaulter: undefined, validator: undefined, conversions: [] }
      webhooks.set(id, draft)
      return createWebhookBuilder(kind, draft)
    },
    index: (kind, field, valuesOf) => {
      indexes.push({ kind, field, valuesOf: valuesOf as unknown as IndexFunction<ApiObject> })
    },
    cache: (kind, options) => {
      caches.push({ ...(options as unknown as KindCacheOptions), kind })
    },
    cacheDefaults: defaults => {
      cacheDefaults = { ...cacheDefaults, ...defaults }
    },
    task: (name, task, { needsLeader = true } = {}) => {
      tasks.push({ name, task, needsLeader })
    },
    rbac: (target, verbs, options = {}) => {
      rbac.push({ target, verbs, options })
    },
    metricsHandler: (path, handler) => {
      if (!path.startsWith('/') || path === '/metrics' || metricsHandlers.has(path))
        throw new RuntimeError(
          'BadDefinition',
          `metricsHandler: ${path} is not an absolute path, or already has a handler`,
        )
      metricsHandlers.set(path, handler)
    },
    healthCheck: (name, check) => {
      healthChecks.set(name, check)
    },
    readyCheck: (name, check) => {
      readyChecks.set(name, check)
    },
  })
  if (returned instanceof Promise) {
    returned.catch(() => {}) // what it rejects with is not the mistake
    throw new RuntimeError(
      'BadDefinition',
      `operator ${operator.name}: setup must not be async; await before defineOperator, or in a task`,
    )
  }
  const unfinished = [...begun].filter(name => !controllers.some(controller => controller.name === name))
  if (unfinished.length > 0) {
    throw new RuntimeError('BadDefinition', `controller ${unfinished.join(', ')} has no reconcile`)
  }
  return {
    name: operator.name,
    controllers,
    webhooks: withConversions([...webhooks.values()], controllers),
    indexes,
    caches,
    cacheDefaults,
    tasks,
    rbac,
    metricsHandlers,
    healthChecks,
    readyChecks,
  }
}

/** Adds the conversions that kinds define themselves to the webhooks of the first version that the operator uses. */
function withConversions(
  webhooks: readonly WebhookDefinition[],
  controllers: readonly ControllerDefinition[],
): WebhookDefinition[] {
  const used = [...webhooks.map(({ kind }) => kind), ...controllers.flatMap(each => each.for ?? [])]
  const seen = new Set<unknown>()
  const result = [...webhooks]
  for (const kind of used) {
    const defined = definedKindOf(kind)
    if (!defined || seen.has(defined)) continue
    seen.add(defined)
    const conversions = conversionsOfKind(defined)
    if (conversions.length === 0) continue
    const index = result.findIndex(webhook => webhook.kind === kind)
    const webhook = result[index]
    if (webhook) result[index] = { ...webhook, conversions: [...webhook.conversions, ...conversions] }
    else result.push({ kind, defaulter: undefined, validator: undefined, conversions })
  }
  return result
}
