/** An object whose status has conditions. */
interface Conditioned {
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

/** Whether the status condition of this type is True: `hasCondition('Ready')`. */
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

/** What objects are commonly waited for: conditions of `waitFor`, and of `readyWhen` of dependents. An absent object meets only `isDeleted`. */
export const conditions = {
  hasCondition,
  /** The object is deleted, or another one has its name: `isDeleted(uid)`. */
  isDeleted:
    (uid: string) =>
    (object: { readonly metadata: { readonly uid?: string } } | undefined): boolean =>
      object?.metadata.uid !== uid,
  /** A CustomResourceDefinition is served. */
  isCrdEstablished: hasCondition('Established'),
  isJobComplete: hasCondition('Complete'),
  isPodReady: hasCondition('Ready'),
  isPodRunning: (pod: { readonly status?: { readonly phase?: string } } | undefined): boolean =>
    pod?.status?.phase === 'Running',
  isDeploymentRolledOut: isRolledOut,
  /** The load balancer of a Service has an address. */
  isServiceProvisioned: isProvisioned,
  /** The load balancer of an Ingress has an address. */
  isIngressProvisioned: isProvisioned,
} as const
