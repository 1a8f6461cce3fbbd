/**
 * Small clusters and pods, drawn by chance, given to the real kube-scheduler and to ours: after every pod that comes and every
 * change it is compared where pods are and how nodes were rated, or why they are nowhere, which node they wait for, who has to
 * leave, and what becomes of volumes.
 *
 *   node interop/control-plane/random-scheduling.ts [--seed N] [--count N] [--show]
 *
 * Each case has a seed of its own, from `--seed` on; `--show` prints what is in it. Where several nodes are equally good chance
 * decides, and both may decide otherwise: then ours is played again with more luck. What differs twice is printed with its
 * seed, and the program ends with 1.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { type Case, drawCase } from './random-scheduling/draw-case.ts'
import { bestNodes } from './random-scheduling/scores.ts'
import { type Outcome, playOurs, RealSide } from './random-scheduling/sides.ts'
import type { Snapshot } from './random-scheduling/snapshot.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    show: { type: 'boolean', default: false },
  },
})

/** How often ours tries to do as the real one did. */
const mostLuck = 10

/** How many pods had what end, of those in which both agreed. */
const tally = { scheduled: 0, rated: 0, refused: 0, promised: 0, evicted: 0, changes: 0 }

function count(drawn: Case, index: number, { snapshot, scores }: Outcome): void {
  const { pod } = drawn.steps[index]!
  if (index === drawn.steps.length - 1)
    tally.evicted += Object.values(snapshot).filter(text => text === 'gone' || text === 'leaving').length
  if (pod === undefined) {
    tally.changes++
    return
  }
  const end = snapshot[pod] ?? ''
  if (scores) tally.rated++
  if (end.includes(' -> ')) tally.promised++
  else if (end.includes('nodes are available')) tally.refused++
  else tally.scheduled++
}

interface Result {
  /** Steps. */
  readonly compared: number
  readonly differences: readonly string[]
}

function describe(theirs: Snapshot, own: Snapshot): string[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(own)])]
  return names
    .filter(name => theirs[name] !== own[name])
    .map(name => `${name}\n    real: ${theirs[name]}\n    ours: ${own[name]}`)
}

/** Whether nothing but the choice between equals differs. */
function isByChance(drawn: Case, index: number, theirs: Outcome, own: Outcome): boolean {
  const { pod } = drawn.steps[index]!
  if (pod === undefined || !own.scores) return false
  const others = describe(theirs.snapshot, { ...own.snapshot, [pod]: theirs.snapshot[pod]! })
  if (others.length > 0) return false
  const nodes = drawn.before[0]!.map(([, { metadata }]) => metadata.name)
  return bestNodes(own.scores, nodes).includes(theirs.snapshot[pod]!)
}

async function compare(real: RealSide, drawn: Case, pause: number): Promise<Result> {
  const tries = new Map<number, Outcome[]>()
  const ours = async (luck: number) => {
    const known = tries.get(luck) ?? (await playOurs(drawn, luck))
    tries.set(luck, known)
    return known
  }
  const passed: Outcome[] = []
  /** With the same end so far. */
  const find = async (theirs: Outcome) => {
    const wanted = [...passed, theirs].map(({ snapshot }) => snapshot)
    for (let luck = 1; luck <= mostLuck; luck++) {
      const played = await ours(luck)
      const found = played.slice(0, wanted.length).map(({ snapshot }) => snapshot)
      if (isDeepStrictEqual(found, wanted)) return played
    }
    return undefined
  }
  try {
    let own = await ours(1)
    await real.prepare(drawn, pause)
    for (const [index, { say }] of drawn.steps.entries()) {
      const theirs = await real.play(drawn, index, own[index]!.snapshot)
      if (!isDeepStrictEqual(theirs.snapshot, own[index]!.snapshot)) {
        const lucky = await find(theirs)
        if (!lucky && isByChance(drawn, index, theirs, own[index]!))
          return { compared: index + 1, differences: [] }
        if (!lucky)
          return {
            compared: index + 1,
            differences: [say, ...describe(theirs.snapshot, own[index]!.snapshot)],
          }
        own = lucky
      }
      if (!isDeepStrictEqual(theirs.scores, own[index]!.scores)) {
        const [first, second] = [theirs, own[index]!].map(({ scores }) => JSON.stringify(scores))
        return {
          compared: index + 1,
          differences: [`${say}, scores\n    real: ${first}\n    ours: ${second}`],
        }
      }
      passed.push(theirs)
      count(drawn, index, theirs)
    }
    return { compared: drawn.steps.length, differences: [] }
  } finally {
    await real.clear(drawn)
  }
}

await using real = await RealSide.start()
const first = Number(values.seed)
let compared = 0
const differing: number[] = []
for (let seed = first; seed < first + Number(values.count); seed++) {
  const drawn = drawCase(seed)
  if (values.show) console.log(JSON.stringify(drawn, undefined, 1))
  let result = await Promise.race([compare(real, drawn, 150), real.crashed])
  if (result.differences.length > 0) result = await Promise.race([compare(real, drawn, 1_500), real.crashed])
  compared += result.compared
  if (result.differences.length === 0) continue
  differing.push(seed)
  console.log(`seed ${seed}, step ${result.compared}:\n  ${result.differences.join('\n  ')}`)
}
console.log(JSON.stringify(tally))
console.log(`${values.count} cases, ${compared} steps, ${differing.length} differ: ${differing.join(' ')}`)
process.exitCode = differing.length > 0 ? 1 : 0
