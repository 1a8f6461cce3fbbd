import type { Access } from './access.ts'

/** What the load generator has to do. It answers `begin` when its connections stand, and `end` with what it counted. */
export type Job =
  | { readonly type: 'fill'; readonly access: Access; readonly namespace: string; readonly count: number }
  | {
      readonly type: 'get'
      readonly access: Access
      readonly protocol: 'h1' | 'h2'
      readonly path: string
      readonly clients: number
      readonly milliseconds: number
    }
  | {
      readonly type: 'create'
      readonly access: Access
      readonly namespace: string
      readonly clients: number
      readonly milliseconds: number
    }
  | { readonly type: 'list'; readonly access: Access; readonly path: string; readonly times: number }
  | {
      readonly type: 'watch'
      readonly access: Access
      readonly namespace: string
      readonly watchers: number
      readonly writers: number
      readonly milliseconds: number
    }

export interface Counted {
  /** Requests answered, objects made, or events delivered. */
  readonly count: number
  readonly bytes: number
  readonly milliseconds: number
}

export type Report =
  | { readonly type: 'begin' }
  | ({ readonly type: 'end' } & Counted)
  | { readonly type: 'failed'; readonly message: string }
