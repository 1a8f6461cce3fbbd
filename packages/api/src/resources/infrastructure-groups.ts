// Networks, storage and events.
import type { GroupRows } from './row.ts'

export const networking: GroupRows = {
  group: 'networking.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'ingressclasses',
      kind: 'IngressClass',
      about: 'Names the controller that serves a class of ingresses.',
      cluster: true,
      columns: 'Name:name|Controller|Parameters|Age',
    },
    {
      resource: 'ingresses',
      kind: 'Ingress',
      about: 'Routes HTTP requests from outside to services by host and path.',
      shortNames: ['ing'],
      subresources: ['status'],
      columns: 'Name:name|Class|Hosts|Address|Ports|Age',
    },
    {
      resource: 'ipaddresses',
      kind: 'IPAddress',
      about: 'Records that an address of a service range is allocated, and the object that owns it.',
      cluster: true,
      shortNames: ['ip'],
      columns: 'Name:name|ParentRef',
    },
    {
      resource: 'networkpolicies',
      kind: 'NetworkPolicy',
      about: 'Says which traffic may reach and leave the pods it selects.',
      shortNames: ['netpol'],
      columns: 'Name:name|Pod-Selector|Age',
    },
    {
      resource: 'servicecidrs',
      kind: 'ServiceCIDR',
      about: 'Adds a range of addresses for services.',
      cluster: true,
      subresources: ['status'],
      columns: 'Name:name|CIDRs|Age',
    },
  ],
}

export const discovery: GroupRows = {
  group: 'discovery.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'endpointslices',
      kind: 'EndpointSlice',
      about: 'Lists a part of the addresses behind a service.',
      columns: 'Name:name|AddressType|Ports|Endpoints|Age',
    },
  ],
}

export const storage: GroupRows = {
  group: 'storage.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'csidrivers',
      kind: 'CSIDriver',
      about: 'Describes a storage driver and what it can do.',
      cluster: true,
      columns:
        'Name:name|AttachRequired?|PodInfoOnMount?|StorageCapacity?|TokenRequests|RequiresRepublish?|Modes|Age',
      documentsDeleted: true,
    },
    {
      resource: 'csinodes',
      kind: 'CSINode',
      about: 'Lists the storage drivers that run on a node.',
      cluster: true,
      columns: 'Name:name|Drivers#|Age',
      documentsDeleted: true,
    },
    {
      resource: 'csistoragecapacities',
      kind: 'CSIStorageCapacity',
      about: 'Tells how much storage of a class is left in a part of the cluster.',
      columns: 'Name:name|Created At@',
    },
    {
      resource: 'storageclasses',
      kind: 'StorageClass',
      about: 'Describes a kind of storage and how volumes of it are made.',
      cluster: true,
      shortNames: ['sc'],
      columns: 'Name:name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age',
      documentsDeleted: true,
    },
    {
      resource: 'volumeattachments',
      kind: 'VolumeAttachment',
      about: 'Asks for a volume to be attached to a node, and tells whether it is.',
      cluster: true,
      subresources: ['status'],
      columns: 'Name:name|Attacher:name|PV|Node|Attached?|Age',
      documentsDeleted: true,
    },
    {
      resource: 'volumeattributesclasses',
      kind: 'VolumeAttributesClass',
      about: 'Names parameters of volumes that may be changed later.',
      cluster: true,
      shortNames: ['vac'],
      columns: 'Name:name|DriverName|Age',
      documentsDeleted: true,
    },
  ],
}

export const events: GroupRows = {
  group: 'events.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'events',
      kind: 'Event',
      about: 'Reports something that happened to an object, with series and reporting controller.',
      shortNames: ['ev'],
      columns: 'Last Seen|Type|Reason|Object|Subobject+|Source+|Message|First Seen+|Count+|Name:name+',
      fields:
        'regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion regarding.resourceVersion regarding.fieldPath reason reportingController type',
      storedAs: { group: '', version: 'v1' },
    },
  ],
}
