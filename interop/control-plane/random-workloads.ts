/**
 * What people do, drawn by chance, with the real kube-controller-manager and with our controllers, each on a server of ours: after
 * every action both come to rest and are compared, as `workloads.test.ts` does in the end of its scenarios.
 *
 *   node interop/control-plane/random-workloads.ts [--seed N] [--count N] [--group NAME] [--family NAME] [--at-once N]
 *
 * A sequence that differs is played once more. What differs twice is printed with its seed, and the program ends with 1.
 */
import { parseArgs } from 'node:util'
import { Namespace } from '@coxswain/api/core/v1'
import { findDifferences } from './comparison/differences.ts'
import { createDraw, type Sequence } from './comparison/random/draw.ts'
import { groups } from './comparison/random/index.ts'
import { outcomeOfImage } from './comparison/random/outcomes.ts'
import { type Side, startSide } from './comparison/side.ts'
import { type Snapshot, takeSnapshot } from './comparison/snapshot.ts'
import type { Stage } from './comparison/stage.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '50' },
    group: { type: 'string', default: 'workloads' },
    family: { type: 'string' },
    'at-once': { type: 'string', default: '8' },
  },
})
/** How long two that differ are given to agree: what waits is not at rest. */
const patience = 25_000

/** Ours look at budgets when pods leave them, the real ones do not. */
const budgetEvents = /(NoPods|UnmanagedPods|CalculateExpectedPodCountFailed) PodDisruptionBudget/

interface Outcome {
  readonly compared: number
  readonly differences: readonly string[]
}

/** What became of the action where it was refused. */
async function perform(stage: Stage, run: (stage: Stage) => Promise<unknown>): Promise<string> {
  try {
    await run(stage)
    return 'done'
  } catch (error) {
    return `refused: ${(error as Error).message}`.replaceAll(stage.namespace, 'NAMESPACE')
  }
}

async function look(stage: Stage, masks: Sequence['masks']): Promise<Snapshot> {
  await stage.settle()
  const { chanceEvents = budgetEvents, ...others } = masks ?? {}
  return takeSnapshot(stage.client, stage.namespace, { chanceEvents, ...others })
}

/** Plays until something differs. */
async function play(sides: readonly [Side, Side], sequence: Sequence, namespace: string): Promise<Outcome> {
  const [real, ours] = await Promise.all(sides.map(side => side.open(namespace, outcomeOfImage)))
  const both = [real!, ours!]
  let compared = 0
  try {
    for (const [index, { say, run }] of sequence.actions.entries()) {
      const [theirs, own] = await Promise.all(both.map(stage => perform(stage, run)))
      let found: readonly string[] = []
      const end = performance.now() + patience
      do {
        const [first, second] = await Promise.all(both.map(stage => look(stage, sequence.masks)))
        found = findDifferences(first!, second!)
        // Refusals name objects whose names are random.
        if ((theirs === 'done') !== (own === 'done')) found = [...found, `real: ${theirs}, ours: ${own}`]
      } while (found.length > 0 && performance.now() < end)
      compared++
      if (found.length > 0) return { compared, differences: [`after ${index}: ${say}`, ...found] }
    }
    return { compared, differences: [] }
  } finally {
    for (const stage of both) {
      await sequence.cleanUp?.(stage)
      await stage.client.delete(Namespace, { name: namespace }).catch(() => {})
    }
  }
}

const { families, controllers } = groups[values.group]!
const names = Object.keys(families).filter(name => !values.family || values.family.split(',').includes(name))
const first = Number(values.seed)
const waiting = Array.from({ length: Number(values.count) }, (_, nth) => first + nth)
await using stack = new AsyncDisposableStack()
const sides = [
  stack.use(await startSide('real', controllers)),
  stack.use(await startSide('ours', controllers)),
] as const
let compared = 0
let differing = 0
const isOver = performance.now()
const work = async () => {
  for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
    const family = names[seed % names.length]!
    const sequence = families[family]!(createDraw(seed))
    let outcome: Outcome = { compared: 0, differences: [] }
    for (const attempt of ['', '-again']) {
      outcome = await play(sides, sequence, `${family}-${seed}${attempt}`).catch(error => ({
        compared: 0,
        differences: [`not played: ${error}`],
      }))
      compared += outcome.compared
      if (outcome.differences.length === 0) break
      if (!attempt)
        process.stdout.write(`${family} ${seed}: once more\n  ${outcome.differences.join('\n  ')}\n`)
    }
    if (outcome.differences.length === 0) continue
    differing++
    const reported = sequence.actions.map(({ say }, index) => `${index}: ${say}`)
    process.stdout.write(
      `${family}, --seed ${seed} differs\n  ${[...reported, ...outcome.differences].join('\n  ')}\n`,
    )
  }
}
await Promise.all(Array.from({ length: Number(values['at-once']) }, work))
const seconds = Math.round((performance.now() - isOver) / 1_000)
process.stdout.write(
  `${values.count} sequences, ${compared} comparisons, ${differing} differ, ${seconds} s\n`,
)
process.exitCode = differing > 0 ? 1 : 0
