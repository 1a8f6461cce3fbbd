import type { ListEncoder } from '@coxswain/apimachinery/protobuf'
import { createAbortError } from '@coxswain/kit'
import type { WireBody, WireRequest } from '@coxswain/wire'
import { Slices, type Turns } from '../cache/slices.ts'
import { piecesBody } from './list-body.ts'

/** Encoded items are kept up to this total size. */
const keptLimit = 1024 * 1024

export interface ProtobufItems<T> {
  /** Must not change. */
  readonly of: readonly T[]
  encode(item: T): Uint8Array
  readonly turns: Turns
  readonly request: WireRequest
}

/**
 * A protobuf list, whose length precedes its items. The items of a large list are encoded twice, first to measure
 * them and then as the client reads, so that the list is never in memory as a whole.
 */
export async function protobufListBody<T>(
  encoder: ListEncoder,
  { of, encode, turns, request }: ProtobufItems<T>,
): Promise<{ readonly body: WireBody; readonly length: number }> {
  const slices = new Slices(turns)
  const kept: Uint8Array[] = []
  let length = 0
  for (const item of of) {
    const bytes = encode(item)
    length += bytes.length
    if (length <= keptLimit) kept.push(bytes)
    else kept.length = 0
    if (!slices.isUsedUp) continue
    await slices.next()
    if (request.signal.aborted) throw createAbortError('the client has disconnected')
  }
  const { begin, end } = encoder.frame(length)
  const total = begin.length + length + end.length
  if (length <= keptLimit) return { body: [begin, ...kept, end], length: total }
  return { body: piecesBody(pieces(), turns), length: total }

  function* pieces(): Generator<Uint8Array, void, undefined> {
    yield begin
    for (const item of of) yield encode(item)
    yield end
  }
}
