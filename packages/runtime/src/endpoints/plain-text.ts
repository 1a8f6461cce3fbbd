import type { WireResponse } from '@coxswain/wire'

const encoder = new TextEncoder()

/** A plain text answer, in the format of Go's `http.Error`. */
export function plainText(status: number, text: string, contentType?: string): WireResponse {
  const headers = {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  }
  return { status, headers, body: encoder.encode(text) }
}

/** A JSON answer. */
export function jsonAnswer(value: unknown): WireResponse {
  return plainText(200, `${JSON.stringify(value)}\n`, 'application/json')
}

/** Whether a method only reads. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
