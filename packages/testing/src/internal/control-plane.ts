import { ConfigMap, Node, ServiceAccount } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { signJwt } from '@coxswain/apiserver'
import { type Client, waitFor } from '@coxswain/client'
import {
  type ControllerName,
  type ControllerSelector,
  createControllerManager,
  createLocalCloud,
  ensureDefaultStorageClass,
  type GarbageCollectorOptions,
  type ServesResource,
  selectControllers,
} from '@coxswain/controllers'
import { concatBytes, type Env, encodeText, sha256 } from '@coxswain/kit'
import {
  createInProcessRuntime,
  createKubelet,
  createSimulatedRuntime,
  type ImageFunction,
  type Kubelet,
} from '@coxswain/kubelet'
import type { Operator } from '@coxswain/runtime'
import { testRootCa } from './root-ca.ts'
import { testServiceAccounts } from './service-account-keys.ts'

/** What most tests of operators need, and what costs next to nothing. */
const few: readonly ControllerName[] = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
]

/** How long the start waits for the controllers, in milliseconds of the cluster's clock. */
const startLimit = 30_000

/** Which controllers run: `true` means few of them; nodes need those that make their Pods. */
export function chooseControllers(
  wanted: boolean | '*' | 'as-needed' | readonly ControllerSelector[] | undefined,
  nodes: number,
  serves: ServesResource,
): readonly ControllerName[] {
  if (wanted === 'as-needed') return nodes > 0 ? ['node-lifecycle-controller'] : []
  if (wanted === undefined && nodes > 0) return selectControllers(['*'], serves)
  if (wanted === undefined || wanted === true) {
    const possible = new Set(selectControllers(['*'], serves))
    return nodes > 0 ? [...few, 'node-lifecycle-controller'] : few.filter(name => possible.has(name))
  }
  if (wanted === false) return nodes > 0 ? ['node-lifecycle-controller'] : []
  return selectControllers(wanted === '*' ? ['*'] : wanted, serves)
}

/** What the server has, and what is collected of it. */
export interface ControllerSurroundings {
  readonly serves: ServesResource
  /** @default everything */
  readonly collected?: NonNullable<GarbageCollectorOptions['resources']>
}

/** The controllers as one operator. Without a CA, the controllers that sign certificates do not run. */
export function createControllers(
  controllers: readonly ControllerName[],
  { serves, collected }: ControllerSurroundings,
): Operator {
  const { signingKey } = testServiceAccounts
  return createControllerManager({
    controllers,
    serves,
    rootCa: testRootCa,
    signToken: claims => signJwt(claims, signingKey!),
    cloud: createLocalCloud,
    hmac,
    ...(collected && { garbageCollector: { resources: collected } }),
  })
}

/** Nodes whose containers are functions where there is one for their image, and simulated otherwise. */
export function createNodes(
  count: number,
  images: Readonly<Record<string, ImageFunction>> | undefined,
  { clock }: Env,
): Kubelet | undefined {
  if (count === 0) {
    if (images) throw new Error('images run on nodes: start the cluster with nodes, for example nodes: 1')
    return undefined
  }
  const simulated = createSimulatedRuntime()
  const runtime = images ? createInProcessRuntime({ images, clock, others: simulated }) : simulated
  return createKubelet({ runtime, count })
}

/** Makes what every Pod of the namespace `default` needs, so that the start does not wait for the controller that would. */
export async function createDefaultAccount(client: Client): Promise<void> {
  await client.create(ServiceAccount, { metadata: { namespace: 'default', name: 'default' } })
}

/** Resolves when Pods can run: the nodes are ready, and what Pods mount is there. */
export async function waitUntilReady(
  client: Client,
  env: Env,
  { controllers, nodes }: { readonly controllers: readonly ControllerName[]; readonly nodes: number },
): Promise<void> {
  const wait = <K extends Kind>(kind: K, key: ObjectKey, isThere: (object: unknown) => boolean) =>
    waitFor(client, env, { kind, key }, isThere, { timeout: startLimit })
  const waits: Promise<unknown>[] = []
  if (controllers.includes('local-path-provisioner')) waits.push(ensureDefaultStorageClass(client))
  if (controllers.includes('root-ca-certificate-publisher-controller')) {
    const key = { namespace: 'default', name: 'kube-root-ca.crt' }
    waits.push(wait(ConfigMap, key, object => object !== undefined))
  }
  for (let index = 1; index <= nodes; index++)
    waits.push(wait(Node, { name: `node-${index}` }, node => isReady(node as Node | undefined)))
  await Promise.all(waits)
}

function isReady(node: Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

const blockLength = 64

/** HMAC-SHA256 (RFC 2104) without a platform's crypto. */
function hmac(key: string, text: string): Uint8Array {
  const bytes = encodeText(key)
  const block = new Uint8Array(blockLength)
  block.set(bytes.length > blockLength ? sha256(bytes) : bytes)
  const inner = sha256(concatBytes([block.map(byte => byte ^ 0x36), encodeText(text)]))
  return sha256(concatBytes([block.map(byte => byte ^ 0x5c), inner]))
}
