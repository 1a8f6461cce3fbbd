import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { isForbidden, isNotFound, isStatusError } from '@coxswain/apimachinery/status'
import { isMachineryError } from '@coxswain/apimachinery/wire-format'
import {
  type Client,
  conditions,
  createDiscovery,
  type Discovery,
  type DynamicObject,
  waitFor,
} from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import type { Manifest, Manifests } from './manifest.ts'
import { readSource } from './read-manifests.ts'

/** Options of `apply`. */
export interface ApplyManifestsOptions {
  /** Of namespaced objects that name none. @default 'default' */
  readonly namespace?: string
  /** @default 'test' */
  readonly fieldManager?: string
  /** Whether fields that others manage are taken over; a conflict is an error otherwise. @default false */
  readonly force?: boolean
}

/** An object as the server has it after it was applied. */
export type Applied = DynamicObject

/** How often an object is tried that fails for a reason that passes, and the pauses in between, in milliseconds. */
const attempts = 10
const firstPause = 50
const longestPause = 2_000
/** How long a CustomResourceDefinition may take to be established. */
const establishLimit = 30_000

/** Where manifests are applied, and how. */
export interface ApplyContext extends ApplyManifestsOptions {
  readonly client: Client
  readonly env: Env
}

/** Applies manifests server-side; see `Cluster.apply`. */
export async function applyManifests(
  context: ApplyContext,
  manifests: Manifests,
): Promise<readonly Applied[]> {
  const { client, env } = context
  const all = await readSource(manifests)
  if (all.length === 0) throw new Error('there is no object to apply')
  const discovery = createDiscovery(client)
  const order = (rank: number) => all.filter(({ object }) => rankOf(object) === rank)
  const applied = new Map<Manifest, Applied>()
  const apply = async (manifest: Manifest) => {
    applied.set(manifest, await applyOne(context, discovery, manifest))
  }
  const definitions = order(0)
  for (const manifest of definitions) await apply(manifest)
  for (const { object, place } of definitions) {
    const target = { kind: CustomResourceDefinition, key: { name: object.metadata.name! } }
    await waitFor(client, env, target, conditions.isCrdEstablished, { timeout: establishLimit }).catch(
      error => {
        throw explain(place, error)
      },
    )
  }
  if (definitions.length > 0) discovery.invalidate()
  for (const manifest of [...order(1), ...order(2)]) await apply(manifest)
  return all.map(manifest => applied.get(manifest)!)
}

function rankOf({ apiVersion, kind }: ApiObject): number {
  if (kind === 'CustomResourceDefinition' && apiVersion?.startsWith('apiextensions.k8s.io/')) return 0
  return kind === 'Namespace' && apiVersion === 'v1' ? 1 : 2
}

async function applyOne(
  context: ApplyContext,
  discovery: Discovery,
  { object, place }: Manifest,
): Promise<Applied> {
  const { client, env, namespace = 'default', fieldManager = 'test', force = false } = context
  for (let attempt = 1; ; attempt++) {
    try {
      const kind = await discovery.kindOf(object.apiVersion!, object.kind!)
      const metadata =
        kind.namespaced && object.metadata.namespace === undefined
          ? { ...object.metadata, namespace }
          : object.metadata
      return await client.apply(kind, { ...object, metadata } as never, { fieldManager, force })
    } catch (error) {
      if (attempt === attempts || !isPassing(error)) throw explain(place, error)
      discovery.invalidate()
      await env.clock.sleep(Math.min(firstPause * 2 ** (attempt - 1), longestPause))
    }
  }
}

/** A kind that is about to be served, a webhook that is about to answer, a service account that is about to be made. */
function isPassing(error: unknown): boolean {
  if (isMachineryError(error, 'NoMatch')) return true
  if (!isStatusError(error)) return false
  if (isForbidden(error)) return /error looking up service account/.test(error.message)
  return isNotFound(error) || error.code === 429 || error.code >= 500
}

/** The same error, with the place of the object in its message: callers still see what it is. */
function explain(place: string, error: unknown): unknown {
  if (error instanceof Error) {
    const hint = isMachineryError(error, 'NoMatch')
      ? '; apply its CustomResourceDefinition first, or call cluster.install(operator)'
      : ''
    error.message = `${place}: ${error.message}${hint}`
  }
  return error
}
