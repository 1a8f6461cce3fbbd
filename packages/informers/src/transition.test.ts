import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { initialState, isStaleAnswer, type Outcome, type ReflectorState, transition } from './transition.ts'

/** `phase from known wl failures`, short enough for a table. */
function show(state: ReflectorState): string {
  const at = 'from' in state ? `from=${state.from || 'latest'}` : ''
  return `${state.phase} ${at} known=${state.known ?? '-'} ${state.watchList ? 'wl' : '--'} ${state.failures}`.replace(
    / +/g,
    ' ',
  )
}

const base = { known: '50', watchList: false, failures: 0 } as const
const listing: ReflectorState = { ...base, phase: 'listing', from: '50' }
const watching: ReflectorState = { ...base, phase: 'watching' }
const streaming: ReflectorState = { ...base, watchList: true, phase: 'streaming', from: '50' }
const failed = (failure: 'expired' | 'ahead' | 'unsupported' | 'absent' | 'other'): Outcome => ({
  type: 'failed',
  failure,
})
const ended = (lasted: number): Outcome => ({ type: 'ended', lasted })
const quiet: Outcome = { type: 'quiet' }

const table: readonly [
  name: string,
  state: ReflectorState,
  outcome: Outcome,
  next: string,
  pause: boolean,
][] = [
  [
    'a list leads to a watch',
    listing,
    { type: 'listed', resourceVersion: '70' },
    'watching known=70 -- 0',
    false,
  ],
  ['a failed list is retried', listing, failed('other'), 'listing from=50 known=50 -- 0', true],
  [
    'a list of a resource that is not served too',
    listing,
    failed('absent'),
    'listing from=50 known=50 -- 0',
    true,
  ],
  [
    'after 410 the latest state is requested',
    listing,
    failed('expired'),
    'listing from=latest known=50 -- 0',
    true,
  ],
  [
    'a server that lags is not waited for',
    listing,
    failed('ahead'),
    'listing from=latest known=50 -- 0',
    true,
  ],

  ['a watch that ends is resumed at once', watching, ended(300_000), 'watching known=50 -- 0', false],
  ['unless it was short', watching, ended(999), 'watching known=50 -- 1', true],
  ['a watch that breaks is resumed', watching, failed('other'), 'watching known=50 -- 1', true],
  ['three times', { ...watching, failures: 2 }, failed('other'), 'listing from=50 known=50 -- 0', true],
  [
    'after 410 it lists at least the same version',
    watching,
    failed('expired'),
    'listing from=50 known=50 -- 0',
    true,
  ],
  [
    'a server with another history is listed',
    watching,
    failed('ahead'),
    'listing from=latest known=50 -- 0',
    true,
  ],
  ['silence leads to a list', watching, quiet, 'listing from=50 known=50 -- 0', true],
  [
    'or to a watch-list',
    { ...watching, watchList: true },
    failed('expired'),
    'streaming from=50 known=50 wl 0',
    true,
  ],

  ['a watch-list that is refused', streaming, failed('unsupported'), 'listing from=50 known=50 -- 0', false],
  ['a watch-list that never completes', streaming, quiet, 'listing from=50 known=50 -- 0', true],
  ['a watch-list that breaks', streaming, failed('other'), 'streaming from=50 known=50 wl 1', true],
  ['again', { ...streaming, failures: 2 }, ended(5_000), 'listing from=50 known=50 wl 0', true],
  [
    'a watch-list of a compacted version',
    streaming,
    failed('expired'),
    'streaming from=latest known=50 wl 1',
    true,
  ],
]

describe('transitions of a reflector', () => {
  for (const [name, state, outcome, next, pause] of table) {
    it(`${name}: ${show(state)}, ${JSON.stringify(outcome)}`, () => {
      const result = transition(state, outcome)
      assert.deepEqual([show(result.state), result.pause], [next, pause])
    })
  }

  it("begins with the server's cache, or a watch-list of the latest state", () => {
    assert.equal(show(initialState(false)), 'listing from=0 known=- -- 0')
    assert.equal(show(initialState(true)), 'streaming from=latest known=- wl 0')
  })

  it('detects a response that is older than requested, for numbers of any length', () => {
    assert.ok(isStaleAnswer('100', '99'))
    assert.ok(isStaleAnswer('18446744073709551616', '18446744073709551615'))
    assert.ok(!isStaleAnswer('99', '100'))
    assert.ok(!isStaleAnswer('100', '100'))
    assert.ok(!isStaleAnswer('', '1'))
    assert.ok(!isStaleAnswer('0', '1'))
    assert.ok(!isStaleAnswer('abc', '1'), 'values that are not numbers are not compared')
  })
})
