import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { it, type TestContext } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import type { Operator } from '@coxswain/runtime'
import { type Cluster, startCluster } from '../cluster.ts'
import { Mortal, type Trouble } from './mortal.ts'

/** What happens around controllers, and what is there in the end, whatever goes wrong for them. */
export interface Scenario {
  /** Those that are killed, anew for each life. */
  readonly controllers: () => readonly Operator[]
  /** Those that live on: kubelets and the like. */
  readonly others?: () => readonly Operator[]
  /** Whether the cluster has garbage collection, namespace deletion and default accounts that live on. @default true */
  readonly hasHousekeeping?: boolean
  /** What is there already when the controllers start. */
  readonly before?: (cluster: Cluster) => Promise<unknown>
  readonly act: (cluster: Cluster, performance: Performance) => Promise<unknown>
  /** What matters of the end, to be compared with `end`. */
  readonly look: (cluster: Cluster) => Promise<unknown>
  readonly end: unknown
  /** They keep retrying, as they should. @default false */
  readonly keepsTrying?: boolean
  /** Conflicts and death are played one after the other: together they have another end. @default false */
  readonly hasTroublesApart?: boolean
}

/** One time that a scenario is played. */
export interface Performance {
  readonly seed: number
  readonly trouble: Trouble
  /** Whether anything goes wrong: then everything takes longer. */
  readonly isTroubled: boolean
}

const isTorture = Number(process.env.TORTURE_RUNS ?? 0) > 0
const firstSeed = Number(process.env.TORTURE_SEED ?? 1)
const seeds = isTorture
  ? Array.from({ length: Math.min(3, Number(process.env.TORTURE_RUNS)) }, (_, index) => firstSeed + index)
  : [firstSeed]

/** How long they have to get over what went wrong: back-off doubles, and in torture more goes wrong. */
const settlePeriod = isTorture ? 300_000 : 60_000
/** How long it has to stay as it is. */
const restPeriod = isTorture ? 600_000 : 60_000

/**
 * Makes tests of scenarios: each is played undisturbed, and with conflicts, stale caches and the controllers killed after one
 * of their writes (in torture each apart, and killed after every write). `of` is what docs/coverage.md lists them under.
 */
export function scenariosOf<Common extends Partial<Scenario>>(
  of: string,
  common: Common,
): (name: string, scenario: Omit<Scenario, keyof Common> & Partial<Scenario>) => void {
  return (name, scenario) =>
    void it(name, async t => {
      record(t, of)
      await play({ ...common, ...scenario } as unknown as Scenario, t)
    })
}

/** A line for docs/coverage.md: see tools/coverage/fact.ts. */
function record(t: TestContext, of: string): void {
  const file = process.env.COXSWAIN_COVERAGE
  if (file) t.after(() => t.passed && appendFileSync(file, `${JSON.stringify({ scenario: t.name, of })}\n`))
}

/** Resolves when the end was the same, and stayed, in all performances. */
export async function play(scenario: Scenario, t?: TestContext): Promise<void> {
  const failures: Error[] = []
  let count = 0
  const attempt = async (seed: number, trouble: Trouble): Promise<number> => {
    count++
    try {
      return await perform(scenario, seed, trouble)
    } catch (error) {
      failures.push(error as Error)
      return 0
    }
  }
  for (const [index, seed] of seeds.entries()) {
    const writes = await attempt(seed, {})
    const troubles = isTorture
      ? allTroubles(writes, index)
      : someTroubles(writes, t?.name.length ?? 0, scenario)
    for (const trouble of troubles) await attempt(seed, trouble)
  }
  t?.diagnostic(`${count} performances`)
  const [first, ...more] = failures
  if (!first) return
  first.stack += more.map(({ stack = '' }) => `\nand ${stack.split('\n')[0]}`).join('')
  throw first
}

/** Everything at once, which finds what one trouble alone does and takes half the time. `salt` spreads the deaths over the writes. */
function someTroubles(writes: number, salt: number, { hasTroublesApart }: Scenario): readonly Trouble[] {
  const conflicts: Trouble = { conflictEach: 3, lag: 300 }
  const crash: Trouble = writes === 0 ? {} : { crashAfter: 1 + (salt % writes) }
  return hasTroublesApart && writes > 0 ? [conflicts, crash] : [{ ...conflicts, ...crash }]
}

/** The fault of each write, rotated by seed. */
const writeFaults: readonly ((write: number) => Trouble)[] = [
  crashAfter => ({ crashAfter }),
  crashAfter => ({ crashAfter, lag: 300 }),
  loseAnswerOf => ({ loseAnswerOf }),
]

function allTroubles(writes: number, nthSeed: number): readonly Trouble[] {
  const faultOf = writeFaults[nthSeed % writeFaults.length]!
  return [
    { conflictEach: 3 },
    { lag: 300 },
    { lag: 1_000 },
    { conflictEach: 2, lag: 300 },
    ...Array.from({ length: writes }, (_, index) => faultOf(index + 1)),
  ]
}

/** Returns how often the controllers wrote. */
async function perform(scenario: Scenario, seed: number, trouble: Trouble): Promise<number> {
  const { controllers, others, hasHousekeeping = true, before, act, look, end, keepsTrying } = scenario
  const message = `seed ${seed}, ${JSON.stringify(trouble)}`
  const world = new VirtualWorld({ seed })
  let writes: number
  {
    await using cluster = await startCluster({ env: world, controllers: hasHousekeeping })
    for (const operator of others?.() ?? []) cluster.start(operator)
    const process = new Mortal(cluster, world, controllers, trouble)
    await before?.(cluster)
    process.boot()
    try {
      await cluster.advance(2_000)
      await act(cluster, { seed, trouble, isTroubled: Object.keys(trouble).length > 0 })
      await cluster.advance(settlePeriod)
      assert.deepEqual(await look(cluster), end, message)
      ;({ writes } = process)
      await cluster.advance(restPeriod)
      assert.deepEqual(await look(cluster), end, `${message}: it does not stay`)
      if (!keepsTrying) assert.equal(process.writes, writes, `${message}: writes when all is done`)
    } catch (error) {
      if (error instanceof Error && !error.message.startsWith(message))
        error.stack = `${message}: ${error.stack}`
      throw error
    } finally {
      await process.stop()
    }
  }
  assert.equal(world.nextTimer, undefined, `${message}: a timer was left behind`)
  return writes
}
