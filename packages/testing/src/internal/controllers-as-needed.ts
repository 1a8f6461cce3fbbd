import type { ControllerName } from '@coxswain/controllers'

const volumes = ['/persistentvolumeclaims', '/persistentvolumes'] as const
const namespaces = ['/namespaces'] as const

/** The first write to any of these resources, `GROUP/RESOURCE`, starts the controller. Others never have anything to do in a cluster of a test. */
const triggers: Partial<Readonly<Record<ControllerName, readonly string[]>>> = {
  'clusterrole-aggregation-controller': ['rbac.authorization.k8s.io/clusterroles'],
  'cronjob-controller': ['batch/cronjobs'],
  'daemonset-controller': ['apps/daemonsets'],
  'deployment-controller': ['apps/deployments'],
  'disruption-controller': ['policy/poddisruptionbudgets'],
  'endpoints-controller': ['/services'],
  'endpointslice-controller': ['/services'],
  'endpointslice-mirroring-controller': ['/endpoints'],
  'horizontal-pod-autoscaler-controller': ['autoscaling/horizontalpodautoscalers'],
  'job-controller': ['batch/jobs'],
  'local-path-provisioner': volumes,
  'namespace-controller': namespaces,
  'persistentvolume-binder-controller': volumes,
  'persistentvolume-expander-controller': volumes,
  'persistentvolume-protection-controller': volumes,
  'persistentvolumeclaim-protection-controller': volumes,
  'replicaset-controller': ['apps/replicasets'],
  'replicationcontroller-controller': ['/replicationcontrollers'],
  'resourceclaim-controller': ['resource.k8s.io/resourceclaims'],
  'resourcequota-controller': ['/resourcequotas'],
  'root-ca-certificate-publisher-controller': namespaces,
  'service-lb-controller': ['/services'],
  'serviceaccount-controller': ['/namespaces', '/serviceaccounts'],
  'serviceaccount-token-controller': ['/serviceaccounts'],
  'statefulset-controller': ['apps/statefulsets'],
  'ttl-after-finished-controller': ['batch/jobs'],
}

/** Resources whose objects are owned by nothing and own nothing. */
const ownerless = new Set(['/events', 'events.k8s.io/events', 'coordination.k8s.io/leases', '/nodes'])

/** Starts each controller when what it works on is written for the first time: one that nothing needs costs nothing. */
export class ControllersAsNeeded {
  readonly #start: (controllers: readonly ControllerName[]) => void
  readonly #started = new Set<ControllerName>()
  readonly #known = new Set<string>()

  constructor(start: (controllers: readonly ControllerName[]) => void) {
    this.#start = start
  }

  /** Called at every write to a resource, `GROUP/RESOURCE`. */
  need(resource: string): void {
    if (this.#known.has(resource)) return
    this.#known.add(resource)
    const names = Object.entries(triggers)
      .filter(([, resources]) => resources.includes(resource))
      .map(([name]) => name as ControllerName)
    if (!ownerless.has(resource)) names.push('garbage-collector-controller')
    const missing = names.filter(name => !this.#started.has(name))
    if (missing.length === 0) return
    for (const name of missing) this.#started.add(name)
    this.#start(missing)
  }
}
