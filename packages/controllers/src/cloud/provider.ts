import type { LoadBalancerStatus, NodeAddress } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView, ServiceView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'

export type AddressView = DeepReadonly<NodeAddress>

/** What provider calls may use besides the cloud's own API: the cluster, as the calling controller sees it. */
export interface CloudContext {
  readonly client: OperatorClient
}

/**
 * A cloud provider. A part that it does not implement is absent, and its controllers do nothing. Calls must be idempotent,
 * because controllers may be killed after any of them. Errors are thrown and the call is retried later.
 */
export interface CloudProvider {
  /** The prefix of provider ids: `NAME://`. */
  readonly name: string
  readonly instances?: Instances
  readonly routes?: Routes
  readonly loadBalancers?: LoadBalancers
}

/** The instances behind nodes. They are found by `spec.providerID` or, while that is unset, by the node itself. */
export interface Instances {
  /** True also for an instance that is shut down. */
  exists(node: NodeView, context: CloudContext): Promise<boolean>
  isShutDown(node: NodeView, context: CloudContext): Promise<boolean>
  /** Undefined if the node should not be initialized. */
  metadata(node: NodeView, context: CloudContext): Promise<InstanceMetadata | undefined>
}

/** What a cloud knows of a node's instance. */
export interface InstanceMetadata {
  /** Becomes `spec.providerID`; required for initialization. */
  readonly providerID?: string
  readonly instanceType?: string
  readonly zone?: string
  readonly region?: string
  /** If empty, the node's addresses are left alone. */
  readonly addresses: readonly AddressView[]
  /** Labels in Kubernetes' own domains, and labels that the node already has, are skipped. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Routes for pod traffic to nodes in the cloud's network. */
export interface Routes {
  list(context: CloudContext): Promise<readonly Route[]>
  /** `name` is a hint. */
  create(route: Omit<Route, 'name'> & { readonly name: string }, context: CloudContext): Promise<void>
  /** Deletes a route returned by `list`. */
  delete(route: Route, context: CloudContext): Promise<void>
}

/** A route of the cloud's network to the pods of one node. */
export interface Route {
  readonly name: string
  readonly targetNode: string
  readonly destinationCIDR: string
  /** Set by providers that have to follow address changes. */
  readonly targetNodeAddresses?: readonly AddressView[]
  /** The route drops its packets. */
  readonly isBlackhole?: boolean
}

export type LoadBalancerView = DeepReadonly<LoadBalancerStatus>

/** Load balancers of Services of type LoadBalancer. */
export interface LoadBalancers {
  /** Undefined if it does not exist. */
  get(service: ServiceView, context: CloudContext): Promise<LoadBalancerView | undefined>
  /** Creates or updates the load balancer. */
  ensure(service: ServiceView, nodes: readonly NodeView[], context: CloudContext): Promise<LoadBalancerView>
  /** Updates only the nodes. */
  update(service: ServiceView, nodes: readonly NodeView[], context: CloudContext): Promise<void>
  /** Deletes the load balancer and everything that belongs to it; succeeds if it does not exist. */
  delete(service: ServiceView, context: CloudContext): Promise<void>
}

/** Set by kubelets on nodes that must not be used until their cloud has initialized them. */
export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized'

export function isUninitialized({ spec }: NodeView): boolean {
  return spec?.taints?.some(({ key }) => key === uninitializedTaint) ?? false
}

/** A load balancer name for a Service that every cloud accepts. */
export function defaultLoadBalancerName({ metadata }: ServiceView): string {
  return `a${metadata.uid.replaceAll('-', '')}`.slice(0, 32)
}
