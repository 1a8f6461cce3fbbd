// Workloads and where they run.
import type { GroupRows } from './row.ts'

export const apps: GroupRows = {
  group: 'apps',
  versions: ['v1'],
  resources: [
    {
      resource: 'controllerrevisions',
      kind: 'ControllerRevision',
      about: 'Keeps one earlier state of a controller, so that it can be rolled back to.',
      columns: 'Name:name|Controller|Revision|Age',
    },
    {
      resource: 'daemonsets',
      kind: 'DaemonSet',
      about: 'Runs a pod on every node that matches.',
      shortNames: ['ds'],
      categories: ['all'],
      subresources: ['status'],
      columns:
        'Name:name|Desired#|Current#|Ready#|Up-to-date#|Available#|Node Selector|Age|Containers+|Images+|Selector+',
    },
    {
      resource: 'deployments',
      kind: 'Deployment',
      about: 'Rolls replica sets from one pod template to the next.',
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: ['scale autoscaling/v1/Scale', 'status'],
      columns: 'Name:name|Ready|Up-to-date|Available|Age|Containers+|Images+|Selector+',
    },
    {
      resource: 'replicasets',
      kind: 'ReplicaSet',
      about: 'Keeps a number of equal pods running.',
      shortNames: ['rs'],
      categories: ['all'],
      subresources: ['scale autoscaling/v1/Scale', 'status'],
      columns: 'Name:name|Desired#|Current#|Ready#|Age|Containers+|Images+|Selector+',
    },
    {
      resource: 'statefulsets',
      kind: 'StatefulSet',
      about: 'Runs pods that keep their names and storage, one after the other.',
      shortNames: ['sts'],
      categories: ['all'],
      subresources: ['scale autoscaling/v1/Scale', 'status'],
      columns: 'Name:name|Ready|Age|Containers+|Images+',
    },
  ],
}

export const batch: GroupRows = {
  group: 'batch',
  versions: ['v1'],
  resources: [
    {
      resource: 'cronjobs',
      kind: 'CronJob',
      about: 'Starts a job whenever its schedule says so.',
      shortNames: ['cj'],
      categories: ['all'],
      subresources: ['status'],
      columns: 'Name:name|Schedule|Timezone|Suspend?|Active#|Last Schedule|Age|Containers+|Images+|Selector+',
    },
    {
      resource: 'jobs',
      kind: 'Job',
      about: 'Runs pods until enough of them have succeeded.',
      categories: ['all'],
      subresources: ['status'],
      columns: 'Name:name|Status|Completions|Duration|Age|Containers+|Images+|Selector+',
      fields: 'status.successful',
    },
  ],
}

export const autoscaling: GroupRows = {
  group: 'autoscaling',
  versions: ['v2', 'v1'],
  resources: [
    {
      resource: 'horizontalpodautoscalers',
      kind: 'HorizontalPodAutoscaler',
      about: 'Changes the number of replicas of a workload as its metrics change.',
      shortNames: ['hpa'],
      categories: ['all'],
      subresources: ['status'],
      columns: 'Name:name|Reference|Targets|MinPods|MaxPods|Replicas|Age',
    },
  ],
}

export const policy: GroupRows = {
  group: 'policy',
  versions: ['v1'],
  resources: [
    {
      resource: 'poddisruptionbudgets',
      kind: 'PodDisruptionBudget',
      about: 'Limits how many pods of a set may be evicted at once.',
      shortNames: ['pdb'],
      subresources: ['status'],
      columns: 'Name:name|Min Available|Max Unavailable|Allowed Disruptions#|Age',
    },
  ],
}

export const scheduling: GroupRows = {
  group: 'scheduling.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'priorityclasses',
      kind: 'PriorityClass',
      about: 'Gives a name to a scheduling priority.',
      cluster: true,
      shortNames: ['pc'],
      columns: 'Name:name|Value#|Global-Default?|Age|PreemptionPolicy',
    },
  ],
}

export const resource: GroupRows = {
  group: 'resource.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'deviceclasses',
      kind: 'DeviceClass',
      about: 'Describes a class of devices that claims can ask for.',
      cluster: true,
      columns: 'Name:name|Age',
      documentsDeleted: true,
    },
    {
      resource: 'resourceclaims',
      kind: 'ResourceClaim',
      about: 'Asks for devices and records which were given.',
      subresources: ['status'],
      columns: 'Name:name|State|Age',
      documentsDeleted: true,
    },
    {
      resource: 'resourceclaimtemplates',
      kind: 'ResourceClaimTemplate',
      about: 'Makes a resource claim for each pod that uses it.',
      columns: 'Name:name|Age',
      documentsDeleted: true,
    },
    {
      resource: 'resourceslices',
      kind: 'ResourceSlice',
      about: 'Lists devices that a driver offers.',
      cluster: true,
      columns: 'Name:name|Node|Driver|Pool|Age',
      fields: 'spec.nodeName spec.driver',
      documentsDeleted: true,
    },
  ],
}

export const node: GroupRows = {
  group: 'node.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'runtimeclasses',
      kind: 'RuntimeClass',
      about: 'Names a container runtime that pods can ask for.',
      cluster: true,
      columns: 'Name:name|Handler|Age',
    },
  ],
}

export const coordination: GroupRows = {
  group: 'coordination.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'leases',
      kind: 'Lease',
      about: 'Holds a lock that its holder renews, for leader election and heartbeats.',
      columns: 'Name:name|Holder|Age',
    },
  ],
}
