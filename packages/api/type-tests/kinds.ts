/**
 * What the compiler must accept and refuse about built-in kinds. Nothing here runs: an error that does not happen is an
 * error of the type check.
 */
import type { Deployment, DeploymentSpec, StatefulSet } from '@coxswain/api/apps/v1'
import { Container, type Event, type Node, Pod, type PodSpec, type Service } from '@coxswain/api/core/v1'
import type { RoleBinding } from '@coxswain/api/rbac/v1'
import {
  type ApplyOf,
  type CreateOf,
  defineKind,
  type Kind,
  type KindOf,
  s,
} from '@coxswain/apimachinery/kinds'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function holds<T extends true>(): T | undefined {
  return undefined
}

// A handle is a Kind, and its type has its name.
Pod satisfies Kind<Pod>
holds<Equal<KindOf<typeof Pod>, Pod>>()
holds<Equal<Pod['apiVersion'], 'v1'>>()
holds<Equal<KindOf<typeof Deployment>['kind'], 'Deployment'>>()

// Reading: what the server always sends is there, times are strings.
declare const pod: Pod
pod.metadata.uid satisfies string
pod.metadata.creationTimestamp satisfies string
pod.spec.containers[0]?.image satisfies string | undefined
pod.status.startTime satisfies string | undefined
pod.spec.containers[0]?.ports?.[0]?.protocol satisfies 'SCTP' | 'TCP' | 'UDP' | undefined
pod.spec.containers[0]?.resources?.limits?.cpu satisfies string | undefined
pod.status.conditions?.[0]?.lastProbeTime satisfies string | null | undefined
declare const event: Event
event.involvedObject.name satisfies string | undefined
// @ts-expect-error a field that is not there
pod.spec.replicas
// @ts-expect-error a phase that is not there
pod.status.phase === 'Sleeping'

// Creating: names of fields, their types and enum values are checked.
const created: CreateOf<typeof Pod> = {
  metadata: { generateName: 'web-' },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }],
    volumes: [{ name: 'config', configMap: { name: 'web' } }],
  },
}
created satisfies CreateOf<typeof Pod>
// @ts-expect-error a container without a name
const unnamed: PodSpec = { containers: [{ image: 'nginx' }] }
// @ts-expect-error a restart policy that is not there
const sometimes: PodSpec = { containers: [], restartPolicy: 'Sometimes' }
// @ts-expect-error a spec without a selector
const unselected: DeploymentSpec = { template: {} }
// @ts-expect-error a binding needs its role
const roleless: CreateOf<typeof RoleBinding> = { metadata: { name: 'a' } }
const claims: CreateOf<typeof StatefulSet> = {
  spec: {
    selector: {},
    template: {},
    serviceName: 'db',
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
  },
}

// Applying: everything is optional except the name and the keys of list maps.
const applied: ApplyOf<typeof Deployment> = {
  metadata: { name: 'web' },
  spec: { template: { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } } },
}
const ports: ApplyOf<typeof Service> = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } }
// @ts-expect-error an applied object has a name
const nameless: ApplyOf<typeof Node> = { metadata: {} }
const keyless: ApplyOf<typeof Deployment> = {
  metadata: { name: 'web' },
  // @ts-expect-error which container?
  spec: { template: { spec: { containers: [{ image: 'nginx:2' }] } } },
}

// Inside of a defined kind.
const Task = defineKind({
  group: 'example.com',
  kind: 'Task',
  versions: { v1: { spec: s.object({ containers: s.listMap(['name'], s.ref(Container)) }) } },
})
declare const task: KindOf<typeof Task.v1>
task.spec.containers[0]?.imagePullPolicy satisfies 'Always' | 'IfNotPresent' | 'Never' | undefined
// @ts-expect-error a key that containers do not have
s.listMap(['title'], s.ref(Container))

export { applied, claims, keyless, nameless, ports, roleless, sometimes, unnamed, unselected }
