import type { LoadBalancerStatus, NodeAddress } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView, ServiceView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'

export type AddressView = DeepReadonly<NodeAddress>

/** What a call of a provider may use besides its own cloud: the cluster, as the controller that asks sees it. */
export interface CloudContext {
  readonly client: OperatorClient
}

/**
 * A cloud, as the controllers see it. A part that it does not have is not there, and the controllers of that part do nothing.
 * Every call may be repeated: controllers die after any of them. What cannot be done is thrown, and tried again later.
 */
export interface CloudProvider {
  /** What provider ids begin with: `NAME://`. */
  readonly name: string
  readonly instances?: Instances
  readonly routes?: Routes
  readonly loadBalancers?: LoadBalancers
}

/** The machines that nodes are. They are found by `spec.providerID` and, where that is not set yet, by the node itself. */
export interface Instances {
  /** A machine that is stopped exists. */
  exists(node: NodeView, context: CloudContext): Promise<boolean>
  isShutDown(node: NodeView, context: CloudContext): Promise<boolean>
  /** Undefined when the node is to be left as it is. */
  metadata(node: NodeView, context: CloudContext): Promise<InstanceMetadata | undefined>
}

export interface InstanceMetadata {
  /** Becomes `spec.providerID`; a node is not initialised without one. */
  readonly providerID?: string
  readonly instanceType?: string
  readonly zone?: string
  readonly region?: string
  /** Empty leaves those of the node alone. */
  readonly addresses: readonly AddressView[]
  /** Those with names of Kubernetes, and those the node has, are passed over. */
  readonly labels?: Readonly<Record<string, string>>
}

/** How the cloud's network gets pods' packets to nodes. */
export interface Routes {
  list(context: CloudContext): Promise<readonly Route[]>
  /** `name` is a hint. */
  create(route: Omit<Route, 'name'> & { readonly name: string }, context: CloudContext): Promise<void>
  /** One that was listed. */
  delete(route: Route, context: CloudContext): Promise<void>
}

export interface Route {
  readonly name: string
  readonly targetNode: string
  readonly destinationCIDR: string
  /** Given by providers that have to know when they change. */
  readonly targetNodeAddresses?: readonly AddressView[]
  /** Leads nowhere. */
  readonly isBlackhole?: boolean
}

export type LoadBalancerView = DeepReadonly<LoadBalancerStatus>

/** What brings the outside to services of type LoadBalancer. */
export interface LoadBalancers {
  /** Undefined when there is none. */
  get(service: ServiceView, context: CloudContext): Promise<LoadBalancerView | undefined>
  /** Makes it, or makes it as it should be. */
  ensure(service: ServiceView, nodes: readonly NodeView[], context: CloudContext): Promise<LoadBalancerView>
  /** Only the nodes have changed. */
  update(service: ServiceView, nodes: readonly NodeView[], context: CloudContext): Promise<void>
  /** Nothing of it is left when this resolves, nor was there anything wrong if there was nothing. */
  delete(service: ServiceView, context: CloudContext): Promise<void>
}

/** Kubelets put it on nodes that are not to be used before their cloud has said what they are. */
export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized'

export function isUninitialized({ spec }: NodeView): boolean {
  return spec?.taints?.some(({ key }) => key === uninitializedTaint) ?? false
}

/** A name for a service's load balancer that every cloud takes. */
export function defaultLoadBalancerName({ metadata }: ServiceView): string {
  return `a${metadata.uid.replaceAll('-', '')}`.slice(0, 32)
}
