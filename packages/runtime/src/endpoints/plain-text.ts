import type { WireResponse } from '@coxswain/wire'

const encoder = new TextEncoder()

/** An answer for people, as Go's `http.Error` has it. */
export function plainText(status: number, text: string, contentType?: string): WireResponse {
  const headers = {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  }
  return { status, headers, body: encoder.encode(text) }
}

/** A value as JSON. */
export function jsonAnswer(value: unknown): WireResponse {
  return plainText(200, `${JSON.stringify(value)}\n`, 'application/json')
}

/** Of requests that may do no more than read. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
