import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'

/** The built-in kinds that the runtime itself uses, so that importing it does not load all built-in kinds. */

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

/** An Event of events.k8s.io. */
export interface SeriesEventInput {
  metadata: ObjectMeta
  eventTime: string
  series?: { count: number; lastObservedTime: string }
  reportingController: string
  reportingInstance: string
  action: string
  reason: string
  regarding: ObjectReference
  related?: ObjectReference
  note: string
  type: 'Normal' | 'Warning'
}

export type SeriesEventObject = ApiObject & SeriesEventInput

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

const eventNames = {
  version: 'v1',
  kind: 'Event',
  listKind: 'EventList',
  resource: 'events',
  singular: 'event',
  namespaced: true,
  schema: () => anything,
} as const

export const eventKind: Kind<EventObject, EventInput, EventInput> = { group: '', ...eventNames }

export const seriesEventKind: Kind<SeriesEventObject, SeriesEventInput, SeriesEventInput> = {
  group: 'events.k8s.io',
  ...eventNames,
}

export interface UserInfo {
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

interface TokenReviewInput {
  metadata: ObjectMeta
  spec: { token: string }
}

interface TokenReview extends ApiObject {
  status?: { authenticated?: boolean; user?: UserInfo }
}

interface SubjectAccessReviewInput {
  metadata: ObjectMeta
  spec: Omit<UserInfo, 'username'> & {
    user?: string
    nonResourceAttributes: { verb: string; path: string }
  }
}

interface SubjectAccessReview extends ApiObject {
  status?: { allowed?: boolean }
}

export const tokenReviewKind: Kind<TokenReview, TokenReviewInput, TokenReviewInput> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  listKind: 'TokenReviewList',
  resource: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
  schema: () => anything,
}

export const subjectAccessReviewKind: Kind<
  SubjectAccessReview,
  SubjectAccessReviewInput,
  SubjectAccessReviewInput
> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  listKind: 'SubjectAccessReviewList',
  resource: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
  schema: () => anything,
}
