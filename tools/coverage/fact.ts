/**
 * What passing tests prove about the server and the control loops: one JSON line a fact, appended to the file that
 * COXSWAIN_COVERAGE names. `docs/coverage.md` is made of these facts.
 */
import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'

export const verbs = [
  'create',
  'get',
  'list',
  'watch',
  'update',
  'patch',
  'delete',
  'deletecollection',
] as const
export const patchTypes = ['json', 'merge', 'strategic', 'apply'] as const
export const mediaTypes = ['json', 'yaml', 'protobuf', 'cbor', 'table', 'metadata', 'stream'] as const

export type Verb = (typeof verbs)[number]
export type PatchType = (typeof patchTypes)[number]
export type MediaType = (typeof mediaTypes)[number]

/** A request that was answered as it should be. */
export interface ServedFact {
  /** As in `apps/v1/deployments` or `v1/pods/status`: group (none for core), version, resource, subresource. */
  readonly resource: string
  readonly verb: Verb
  /** With `patch`. */
  readonly patchType?: PatchType
  /** What the answer was encoded as. @default 'json' */
  readonly mediaType?: MediaType
}

/** A resource as discovery lists it: what of it no test has proved shows as a blank. */
export interface ListedFact {
  readonly resource: string
  readonly offered: readonly Verb[]
  /** @default all of them */
  readonly patchTypes?: readonly PatchType[]
}

/** What a control loop went through, to the same end whatever went wrong: packages/testing/src/test-support/play.ts. */
export interface ScenarioFact {
  readonly scenario: string
  /** The controller, or the plug-in of the scheduler. */
  readonly of: string
}

export type ResourceFact = ServedFact | ListedFact
export type CoverageFact = ResourceFact | ScenarioFact

/** Records `facts` if the test passes; does nothing when facts are not collected. */
export function recordCoverage(t: TestContext, ...facts: readonly CoverageFact[]): void {
  recordCoverageLater(t, () => facts)
}

/** As `recordCoverage`, for facts that are known only at the end of the test. */
export function recordCoverageLater(t: TestContext, facts: () => Iterable<CoverageFact>): void {
  const file = process.env.COXSWAIN_COVERAGE
  if (!file) return
  t.after(() => {
    if (!t.passed) return
    const lines = Array.from(facts(), fact => `${JSON.stringify(fact)}\n`)
    appendFileSync(file, lines.join(''))
  })
}
