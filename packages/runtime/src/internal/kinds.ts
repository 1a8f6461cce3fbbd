import type { ApiObject, Kind, ObjectMeta, Schema } from '@coxswain/apimachinery'

/** The two built-in kinds the runtime itself speaks, so that importing it loads no table of built-in kinds. */

export interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

export interface Lease extends ApiObject {
  spec?: LeaseSpec
}

interface LeaseInput {
  metadata: ObjectMeta
  spec: LeaseSpec
}

export interface ObjectReference {
  apiVersion?: string
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
}

export interface EventInput {
  metadata: ObjectMeta
  involvedObject: ObjectReference
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  source: { component: string; host?: string }
  firstTimestamp: string
  lastTimestamp: string
  count: number
  reportingComponent: string
  reportingInstance: string
}

export type EventObject = ApiObject & EventInput

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export const leaseKind: Kind<Lease, LeaseInput, LeaseInput> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  listKind: 'LeaseList',
  resource: 'leases',
  singular: 'lease',
  namespaced: true,
  schema: () => anything,
}

export const eventKind: Kind<EventObject, EventInput, EventInput> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  listKind: 'EventList',
  resource: 'events',
  singular: 'event',
  namespaced: true,
  schema: () => anything,
}
