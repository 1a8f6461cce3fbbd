/** An object whose status has conditions. */
interface Conditioned {
  readonly metadata: object
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

/** An object whose traffic a load balancer receives. */
interface Balanced {
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[]
    }
  }
}

/** The part of a Deployment that shows its rollout. */
interface RolledOut {
  readonly metadata: { readonly generation?: number }
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
  }
}

function hasCondition(type: string): (object: Conditioned | undefined) => boolean {
  return object =>
    object?.status?.conditions?.some(each => each.type === type && each.status === 'True') ?? false
}

function isProvisioned(object: Balanced | undefined): boolean {
  const ingress = object?.status?.loadBalancer?.ingress ?? []
  return ingress.length > 0 && ingress.every(({ ip, hostname }) => Boolean(ip ?? hostname))
}

/** As `kubectl rollout status` decides it: all replicas are of the latest template, available, and no others are left. */
function isRolledOut(object: RolledOut | undefined): boolean {
  if (!object) return false
  const { metadata, spec, status } = object
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {}
  return (
    observedGeneration >= (metadata.generation ?? 0) &&
    updatedReplicas >= (spec?.replicas ?? 1) &&
    replicas <= updatedReplicas &&
    availableReplicas >= updatedReplicas
  )
}

/** Whether something holds for an object; an absent one is undefined. */
type Condition<T> = (object: T | undefined) => boolean

/** What objects are commonly waited for: conditions of `waitFor`, and of `readyWhen` of dependents. An absent object meets only `isDeleted`. */
export const conditions: {
  /** The status condition of this type is True: `hasCondition('Ready')`. */
  readonly hasCondition: (type: string) => Condition<Conditioned>
  /** The object is deleted, or another one has its name: `isDeleted(uid)`. */
  readonly isDeleted: (uid: string) => Condition<{ readonly metadata: { readonly uid?: string } }>
  /** A CustomResourceDefinition is served. */
  readonly isCrdEstablished: Condition<Conditioned>
  readonly isJobComplete: Condition<Conditioned>
  readonly isPodReady: Condition<Conditioned>
  readonly isPodRunning: Condition<{ readonly status?: { readonly phase?: string } }>
  readonly isDeploymentRolledOut: Condition<RolledOut>
  /** The load balancer of a Service has an address. */
  readonly isServiceProvisioned: Condition<Balanced>
  /** The load balancer of an Ingress has an address. */
  readonly isIngressProvisioned: Condition<Balanced>
} = {
  hasCondition,
  isDeleted: uid => object => object?.metadata.uid !== uid,
  isCrdEstablished: hasCondition('Established'),
  isJobComplete: hasCondition('Complete'),
  isPodReady: hasCondition('Ready'),
  isPodRunning: pod => pod?.status?.phase === 'Running',
  isDeploymentRolledOut: isRolledOut,
  isServiceProvisioned: isProvisioned,
  isIngressProvisioned: isProvisioned,
}
