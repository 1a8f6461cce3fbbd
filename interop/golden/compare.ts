import { isDeepStrictEqual } from 'node:util'
import { writeJson } from '@coxswain/apimachinery/json'
import type { GoldenCase } from './case.ts'

/** What a server answered to a case, masked. */
export interface Answer {
  readonly status: number
  readonly warnings: readonly string[]
  readonly body: unknown
  /** What a GET finds afterwards; null when nothing. */
  readonly after?: unknown
}

/** Which parts of the answer are as recorded. */
export interface Verdict {
  readonly status: boolean
  readonly causes: boolean
  readonly message: boolean
  readonly object: boolean
  readonly warnings: boolean
  /** The first that is not, in words. */
  readonly difference: string | undefined
}

type Json = Record<string, unknown>

const statusOf = (body: unknown): Json =>
  typeof body === 'object' && body !== null && (body as Json).kind === 'Status' ? (body as Json) : {}

export function causesOf(body: unknown): string[] {
  const details = (statusOf(body).details ?? {}) as {
    causes?: readonly { reason?: string; field?: string }[]
  }
  return [
    ...new Set((details.causes ?? []).map(({ reason = '', field = '' }) => `${reason} ${field}`)),
  ].sort()
}

/** A message that lists several errors names them in no fixed order. */
const wordsOf = (body: unknown) =>
  String(statusOf(body).message ?? '')
    .split(/, |\n|\[|\]|; /)
    .sort()

export function compare(golden: GoldenCase, answer: Answer): Verdict {
  const { response, after } = golden
  const wanted = after && (after.object === '=response' ? response.body : after.object)
  const checks: readonly (readonly [keyof Verdict, unknown, unknown])[] = [
    [
      'status',
      [response.status, statusOf(response.body).reason],
      [answer.status, statusOf(answer.body).reason],
    ],
    ['causes', causesOf(response.body), causesOf(answer.body)],
    ['object', response.status < 300 ? response.body : null, response.status < 300 ? answer.body : null],
    ['object', after ? wanted : null, after ? answer.after : null],
    ['message', wordsOf(response.body), wordsOf(answer.body)],
    ['warnings', [...(response.headers.warning ?? [])].sort(), [...answer.warnings].sort()],
  ]
  const verdict = { status: true, causes: true, message: true, object: true, warnings: true }
  let difference: string | undefined
  for (const [name, want, got] of checks) {
    if (isDeepStrictEqual(want, got)) continue
    verdict[name as keyof typeof verdict] = false
    difference ??= `${name}: want ${writeJson(want).slice(0, 300)}, got ${writeJson(got).slice(0, 300)}`
  }
  return { ...verdict, difference }
}

/** Whether what a program depends on is as recorded: status and reason, causes, objects. */
export function isSame({ status, causes, object }: Verdict): boolean {
  return status && causes && object
}
