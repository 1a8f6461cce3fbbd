/**
 * What a scheduler is given and what it makes of it: tables that our scheduler plays on a virtual clock, and the real
 * one beside ours on a running server.
 */
import { Node, Pod } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { SchedulerPlugin } from '@coxswain/scheduler'

/** An object to create. A status in it is written too. */
export type Given = readonly [kind: Kind, object: GivenObject]

interface GivenObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

/** Something changes, and then something becomes of the pods. */
export interface Step {
  readonly create?: readonly Given[]
  /** Merge patches; `status` goes to the status subresource. */
  readonly patch?: readonly (readonly [kind: Kind, name: string, patch: object, subresource?: string])[]
  readonly delete?: readonly (readonly [kind: Kind, name: string])[]
  /** How long nothing more happens, in milliseconds of a virtual clock. @default 5000 */
  readonly wait?: number
  /** By pod: see {@link outcomeOf}. */
  readonly end?: Readonly<Record<string, string>>
  /** How many attempts the step takes, of all pods together. */
  readonly tries?: number
}

export interface Scenario {
  /** A sentence about the scheduler. */
  readonly name: string
  readonly nodes: readonly Given[]
  readonly steps: readonly Step[]
  /** Plug-ins beside those of the house, in all profiles; then it cannot be played by another scheduler. */
  readonly plugins?: () => readonly SchedulerPlugin[]
  /** Why it is not played on a running server. */
  readonly onlyVirtual?: string
}

export const namespace = 'default'

export interface NodeShape {
  readonly cpu?: string
  readonly memory?: string
  readonly pods?: string
  /** Other resources. */
  readonly more?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  readonly unschedulable?: boolean
  readonly images?: Readonly<Record<string, number>>
}

export const hostname = 'kubernetes.io/hostname'
export const zone = 'topology.kubernetes.io/zone'

export function node(name: string, shape: NodeShape = {}): Given {
  const { cpu = '4', memory = '8Gi', pods = '10', more = {}, labels = {}, images = {} } = shape
  const allocatable = { cpu, memory, pods, ...more }
  return [
    Node,
    {
      metadata: { name, labels: { [hostname]: name, ...labels } },
      spec: {
        ...(shape.taints && { taints: shape.taints }),
        ...(shape.unschedulable && { unschedulable: true }),
      },
      status: {
        capacity: allocatable,
        allocatable,
        conditions: [{ type: 'Ready', status: 'True' }],
        images: Object.entries(images).map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
      },
    },
  ]
}

export const nodes = (shape: NodeShape, ...names: readonly string[]): Given[] =>
  names.map(name => node(name, shape))

/** A node in a zone. */
export const zoned = (name: string, zoneName: string, shape: NodeShape = {}): Given =>
  node(name, { ...shape, labels: { [zone]: zoneName, ...shape.labels } })

export interface PodShape {
  /** Empty for none. @default '1' */
  readonly cpu?: string
  readonly memory?: string
  readonly requests?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly namespace?: string
  readonly ownerReferences?: readonly object[]
  readonly container?: object
  /** Anything of the pod's spec. */
  readonly [field: string]: unknown
}

/** Pods go at once when they are deleted, unless they say otherwise. */
export function pod(name: string, shape: PodShape = {}): Given {
  const { cpu = '1', memory, requests = {}, labels = {}, container = {}, ownerReferences, ...rest } = shape
  const { namespace: where = namespace, ...spec } = rest
  const wanted = { ...(cpu !== '' && { cpu }), ...(memory && { memory }), ...requests }
  return [
    Pod,
    {
      metadata: { name, namespace: where, labels, ...(ownerReferences && { ownerReferences }) },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'x', resources: limited(wanted), ...container }],
        ...spec,
      },
    },
  ]
}

/** Extended resources have to be limited to what is asked for. */
function limited(requests: Readonly<Record<string, string>>): object {
  const extended = Object.entries(requests).filter(([name]) => name.includes('/'))
  return { requests, ...(extended.length > 0 && { limits: Object.fromEntries(extended) }) }
}

export const pods = (shape: PodShape, ...names: readonly string[]): Given[] =>
  names.map(name => pod(name, shape))

/** The message for a pod that does not fit on any of `all` nodes. By default, preemption finds no victims. */
export function refused(
  all: number,
  reasons: string,
  preemption = `0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`,
): string {
  const text = `0/${all} nodes are available: ${reasons}.`
  return preemption === '' ? text : `${text} no new claims to deallocate, preemption: ${preemption}`
}

/** The sentence for a pod that was refused before any node was looked at; then no claims were looked at either. */
export function refusedAtOnce(all: number, reason: string): string {
  return `0/${all} nodes are available: ${reason}. not found`
}

/** What preemption says where less important pods are not to be found on some nodes, and would not help on others. */
export function noVictims(all: number, none: number): string {
  const reasons = [
    [none, 'No preemption victims found for incoming pod'],
    [all - none, 'Preemption is not helpful for scheduling'],
  ] as const
  const counts = reasons.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  return `0/${all} nodes are available: ${counts.sort().join(', ')}.`
}

/**
 * What has become of a pod: its node, or why it has none and for which one it waits (`... -> node`), `waiting`,
 * `leaving`, or `gone`.
 */
export function outcomeOf(found: Pod | undefined): string {
  if (!found) return 'gone'
  const { metadata, spec, status } = found
  if (metadata.deletionTimestamp) return 'leaving'
  if (spec.nodeName) return spec.nodeName
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const text = condition?.status === 'False' ? (condition.message ?? '') : 'waiting'
  return status?.nominatedNodeName ? `${text} -> ${status.nominatedNodeName}` : text
}
