/** A recorded request and what kube-apiserver 1.36.4 answered. `{{name}}` stands for a value of the run. */
export interface GoldenCase {
  readonly id: string
  readonly about?: string
  /** The folder and file it comes from: `core/pods`. */
  readonly resource: string
  /** Whether it runs in a namespace of its own. @default true */
  readonly namespaced?: boolean
  /** Needs the shared CRDs. */
  readonly fixtures?: boolean
  /** Changes what other cases see: runs alone, at the end. */
  readonly serial?: boolean
  readonly keep?: readonly string[]
  readonly setup?: readonly Step[]
  readonly request: GoldenRequest
  readonly response: {
    readonly status: number
    readonly headers: { readonly warning?: readonly string[] }
    readonly body: unknown
  }
  readonly after?: { readonly path: string; readonly query?: Query; readonly object: unknown }
}

export type Query = Readonly<Record<string, string | readonly string[]>>

export interface GoldenRequest {
  readonly method: string
  readonly path: string
  readonly query?: Query | null
  readonly headers?: Readonly<Record<string, string>> | null
  readonly body?: unknown
  /** The exact text sent, instead of `body`. */
  readonly raw?: string
}

export interface Step extends GoldenRequest {
  /** Values of the answer to keep, by name: a dotted path each. */
  readonly save?: Readonly<Record<string, string>>
  /** Repeated until it answers so. */
  readonly until?: { readonly status?: number; readonly path?: string; readonly value?: unknown }
  /** A status other than 2xx that is right. */
  readonly expect?: number
  /** Seconds to wait for the server's own caches. */
  readonly pause?: number
}

/** Values of placeholders. */
export type Names = Record<string, string>

/** Puts the values of placeholders into a JSON value. */
export function fill<T>(value: T, names: Names): T {
  if (typeof value === 'string') {
    return value.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => names[name] ?? whole) as T
  }
  if (Array.isArray(value)) return value.map(item => fill(item, names)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [fill(key, names), fill(item, names)]),
  ) as T
}

/** The value at a dotted path. */
export function dig(value: unknown, path: string): unknown {
  let found = value
  for (const part of path.split('.')) {
    found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[part] : undefined
  }
  return found
}
