import { decodeText } from '@coxswain/kit'
import { ProtoWriter, readFields } from './protobuf.ts'

/*
 * The part of etcd's v3 API that the store uses, field numbers as in its rpc.proto and kv.proto. Keys are bytes here,
 * with the prefix; unused fields are not decoded.
 */

export interface EtcdKeyValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly createRevision: number
  readonly modRevision: number
  readonly version: number
}

export interface RangeRequest {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array | undefined
  readonly limit?: number | undefined
  readonly revision?: number | undefined
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
}

export interface RangeResponse {
  readonly revision: number
  readonly kvs: readonly EtcdKeyValue[]
  readonly more: boolean
  readonly count: number
}

export function encodeRange(request: RangeRequest): Uint8Array {
  return new ProtoWriter()
    .bytes(1, request.key)
    .bytes(2, request.rangeEnd ?? new Uint8Array(0))
    .number(3, request.limit ?? 0)
    .number(4, request.revision ?? 0)
    .bool(8, request.keysOnly ?? false)
    .bool(9, request.countOnly ?? false)
    .finish()
}

export function decodeRange(message: Uint8Array): RangeResponse {
  const response = { revision: 0, kvs: [] as EtcdKeyValue[], more: false, count: 0 }
  for (const { field, number, bytes } of readFields(message)) {
    if (field === 1) response.revision = decodeHeader(bytes)
    else if (field === 2) response.kvs.push(decodeKeyValue(bytes))
    else if (field === 3) response.more = number === 1
    else if (field === 4) response.count = number
  }
  return response
}

export type EtcdOperation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array; readonly lease: number }
  | { readonly type: 'delete'; readonly key: Uint8Array }
  | { readonly type: 'get'; readonly key: Uint8Array }

export interface TxnRequest {
  readonly compare: readonly { readonly key: Uint8Array; readonly modRevision: number }[]
  readonly success: readonly EtcdOperation[]
  readonly failure: readonly EtcdOperation[]
}

export interface TxnResponse {
  readonly revision: number
  readonly succeeded: boolean
  /** The key-value found by each operation: before a put or delete, or by a get. */
  readonly found: readonly (EtcdKeyValue | undefined)[]
}

export function encodeTxn(request: TxnRequest): Uint8Array {
  const out = new ProtoWriter()
  for (const { key, modRevision } of request.compare) {
    // EQUAL is 0. Absence is compared as a mod revision of 0, which must be encoded explicitly: it is part of a oneof.
    const compare = new ProtoWriter().number(2, 2).bytes(3, key).finish()
    const revision =
      modRevision === 0 ? Uint8Array.of(0x30, 0) : new ProtoWriter().number(6, modRevision).finish()
    out.message(1, Uint8Array.from([...compare, ...revision]))
  }
  for (const operation of request.success) out.message(2, encodeOperation(operation))
  for (const operation of request.failure) out.message(3, encodeOperation(operation))
  return out.finish()
}

function encodeOperation(operation: EtcdOperation): Uint8Array {
  const { key } = operation
  if (operation.type === 'get') return new ProtoWriter().message(1, encodeRange({ key })).finish()
  if (operation.type === 'delete') {
    return new ProtoWriter().message(3, new ProtoWriter().bytes(1, key).bool(3, true).finish()).finish()
  }
  const put = new ProtoWriter()
    .bytes(1, key)
    .bytes(2, operation.value)
    .number(3, operation.lease)
    .bool(4, true)
  return new ProtoWriter().message(2, put.finish()).finish()
}

export function decodeTxn(message: Uint8Array): TxnResponse {
  const response = { revision: 0, succeeded: false, found: [] as (EtcdKeyValue | undefined)[] }
  for (const { field, number, bytes } of readFields(message)) {
    if (field === 1) response.revision = decodeHeader(bytes)
    else if (field === 2) response.succeeded = number === 1
    else if (field === 3) response.found.push(decodeFound(bytes))
  }
  return response
}

/** The key in a response to an operation: kvs of a range, prev_kv of a put, prev_kvs of a delete. */
function decodeFound(message: Uint8Array): EtcdKeyValue | undefined {
  for (const { field: kind, bytes: response } of readFields(message)) {
    const wanted = kind === 3 ? 3 : 2
    for (const { field, bytes } of readFields(response)) if (field === wanted) return decodeKeyValue(bytes)
  }
  return undefined
}

export function encodeCompaction(revision: number): Uint8Array {
  return new ProtoWriter().number(1, revision).finish()
}

export function encodeLeaseGrant(id: number, seconds: number): Uint8Array {
  return new ProtoWriter().number(1, seconds).number(2, id).finish()
}

export function encodeLeaseRevoke(id: number): Uint8Array {
  return new ProtoWriter().number(1, id).finish()
}

/** The server's version, as in `3.5.21`. */
export function decodeStatusVersion(message: Uint8Array): string {
  for (const { field, bytes } of readFields(message)) if (field === 2) return decodeText(bytes)
  return ''
}

export interface WatchCreate {
  readonly key: Uint8Array
  readonly rangeEnd: Uint8Array
  readonly startRevision: number
  readonly previous: boolean
}

export function encodeWatchCreate(request: WatchCreate): Uint8Array {
  const create = new ProtoWriter()
    .bytes(1, request.key)
    .bytes(2, request.rangeEnd)
    .number(3, request.startRevision)
    .bool(6, request.previous)
    .bool(8, true)
  return new ProtoWriter().message(1, create.finish()).finish()
}

export function encodeProgressRequest(): Uint8Array {
  return new ProtoWriter().message(3, new Uint8Array(0)).finish()
}

export interface EtcdEvent {
  readonly type: 'put' | 'delete'
  readonly kv: EtcdKeyValue
  readonly previous: EtcdKeyValue | undefined
}

export interface WatchResponse {
  readonly revision: number
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  /** More of the same response follows. */
  readonly fragment: boolean
  readonly events: readonly EtcdEvent[]
}

export function decodeWatch(message: Uint8Array): WatchResponse {
  const response = {
    revision: 0,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events: [] as EtcdEvent[],
  }
  for (const { field, number, bytes } of readFields(message)) {
    if (field === 1) response.revision = decodeHeader(bytes)
    else if (field === 3) response.created = number === 1
    else if (field === 4) response.canceled = number === 1
    else if (field === 5) response.compactRevision = number
    else if (field === 6) response.cancelReason = decodeText(bytes)
    else if (field === 7) response.fragment = number === 1
    else if (field === 11) response.events.push(decodeEvent(bytes))
  }
  return response
}

const noBytes = new Uint8Array(0)
const noKeyValue: EtcdKeyValue = {
  key: noBytes,
  value: noBytes,
  createRevision: 0,
  modRevision: 0,
  version: 0,
}

function decodeEvent(message: Uint8Array): EtcdEvent {
  let type: EtcdEvent['type'] = 'put'
  let kv = noKeyValue
  let previous: EtcdKeyValue | undefined
  for (const { field, number, bytes } of readFields(message)) {
    if (field === 1) type = number === 1 ? 'delete' : 'put'
    else if (field === 2) kv = decodeKeyValue(bytes)
    else if (field === 3) previous = decodeKeyValue(bytes)
  }
  return { type, kv, previous }
}

function decodeHeader(message: Uint8Array): number {
  for (const { field, number } of readFields(message)) if (field === 3) return number
  return 0
}

function decodeKeyValue(message: Uint8Array): EtcdKeyValue {
  let key: Uint8Array = noBytes
  let value: Uint8Array = noBytes
  let createRevision = 0
  let modRevision = 0
  let version = 0
  for (const { field, number, bytes } of readFields(message)) {
    if (field === 1) key = bytes
    else if (field === 2) createRevision = number
    else if (field === 3) modRevision = number
    else if (field === 4) version = number
    // A copy: keeping one value must not keep the whole message.
    else if (field === 5) value = Uint8Array.from(bytes)
  }
  return { key, value, createRevision, modRevision, version }
}
