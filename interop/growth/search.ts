import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fillings } from './grow.ts'
import { type Growth, type Played, play } from './play.ts'
import type { Target } from './samples.ts'
import { startServer, type TestServer } from './server.ts'
import { describeSpot, findSpots } from './spots.ts'
import { measureSlowness } from './turns.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The longest body that a server takes. */
const bodyLimit = 3 * 1024 * 1024
/** Bodies of the first two lengths are sent of everything, and of the last two where these look bad. */
type Lengths = readonly [short: number, middle: number, long: number]
const shortLengths: Lengths = [bodyLimit / 192, bodyLimit / 48, bodyLimit / 12]
const fullLengths: Lengths = [bodyLimit / 16, bodyLimit / 4, bodyLimit]
/** Milliseconds of processor time below which nothing is worth a closer look. */
const noticed = 30
/** What is too short to be compared: the clock of processor time is coarse on some machines. */
const leastCompared = 5
/** For four times the length. What grows with the square takes sixteen times as long, some of it hidden by what does not. */
const suspicious = 5.5
const mostGrowth = 8
/** What is looked at a second time has to take this long to fail. */
const leastFault = 80
/** What takes so long with a small body and has grown so much is not tried with a larger one. */
const hopeless = 1_500
/** A turn that is longer fails, whatever it grew from: for a full body, on the machine that the limits are meant for. */
const mostOfTurn = 6_000
/** The goal; see README.md for what misses it and why. */
const goal = 50
/** Megabytes that stay, and that the process may take at any time, most of which is garbage: the collector takes its time. */
const mostKept = 500
const mostTaken = 3_800
/** A minute has passed, which says how busy the machine is. */
const timedOut = 504

export interface SearchOptions {
  /** Everything, everywhere, at full size: hours. @default each type once, at full size only what was slow */
  readonly full?: boolean
  /** Types that are not gone into, where another target shows them. */
  skip?(name: string, target: Target): boolean
  /** Who serves. @default a new server for each target */
  start?(): Promise<TestServer>
  /** In bytes, each four times as long as the one before. @default 16, 64 and 256 KB, or 192 KB, 768 KB and 3 MB */
  readonly lengths?: Lengths
  /** How many of the slowest are tried at full size. @default 1 */
  readonly atFullSize?: number
}

/** What a search found. */
export interface Findings {
  /** Each a reason to fail. */
  readonly faults: readonly string[]
  /** Full bodies that took more than one turn may, which is no fault by itself. */
  readonly missed: readonly string[]
  readonly spots: number
  readonly requests: number
}

type Grown = Omit<Growth, 'bytes'>

interface Suspect {
  readonly growth: Grown
  readonly slowest: Played
}

interface Seen {
  readonly faults: readonly string[]
  readonly slowest: Played
  readonly requests: number
}

/** Grows everything in objects of `targets` that can grow, and tells what takes more time than its length explains. */
export async function searchGrowth(
  targets: readonly Target[],
  options: SearchOptions = {},
): Promise<Findings> {
  const faults: string[] = []
  const missed: string[] = []
  const suspects: Suspect[] = []
  const lengths = options.lengths ?? (options.full ? fullLengths : shortLengths)
  let spots = 0
  let requests = 0
  for (const target of targets) {
    await using server = await (options.start ?? startServer)()
    const skip = (name: string) => options.skip?.(name, target) ?? false
    for (const spot of findSpots(target.version.schema(), { all: options.full ?? false, skip })) {
      spots++
      for (const filling of fillings[spot.form]) {
        const seen = await screen(server, { target, spot, filling }, lengths)
        requests += seen.requests
        faults.push(...seen.faults)
        if (seen.slowest.total >= noticed)
          suspects.push({ growth: { target, spot, filling }, slowest: seen.slowest })
      }
    }
    faults.push(...hugeOnes(target.name))
  }
  suspects.sort((a, b) => b.slowest.total - a.slowest.total)
  for (const { growth } of options.full ? suspects : suspects.slice(0, options.atFullSize ?? 1)) {
    await using server = await (options.start ?? startServer)()
    const grown = { ...growth, bytes: bodyLimit }
    const played = await play(server, grown)
    faults.push(...brokenOnes(server, grown, played))
    const slowest = played.toSorted((a, b) => excessOf(b) - excessOf(a))[0]!
    if (excessOf(slowest) > 1 && excessOf(slowest) > measureSlowness())
      faults.push(`${describe(grown, slowest)}: a turn of ${Math.round(slowest.longestTurn)} ms`)
    if (slowest.longestTurn > goal) missed.push(describe(grown, slowest))
    faults.push(...hugeOnes(describe(grown, slowest)))
  }
  return { faults, missed, spots, requests }
}

/** Sends a body of two lengths, and where time has grown more than it should, of two longer ones, twice. */
async function screen(server: TestServer, growth: Grown, lengths: Lengths): Promise<Seen> {
  const [short, middle, long] = lengths
  // A long string is quick to read: what takes time with it stands out without a comparison.
  const small = growth.spot.form === 'string' ? [] : await play(server, { ...growth, bytes: short })
  const large = await play(server, { ...growth, bytes: middle })
  const faults = [...brokenOnes(server, growth, [...small, ...large])]
  const slowest = slowestOf(large)
  const seen = { faults, slowest, requests: small.length + large.length }
  const first = overgrown(growth, small, large, { growth: suspicious, least: noticed })
  const isBad = growth.spot.form === 'string' ? slowest.total >= noticed : first !== undefined
  if (!isBad) return seen
  if (first && slowest.total > hopeless) return { ...seen, faults: [...faults, first] }
  let fault: string | undefined
  for (let attempt = 0; attempt < 2; attempt++) {
    const before = await play(server, { ...growth, bytes: middle })
    const after = await play(server, { ...growth, bytes: long })
    faults.push(...brokenOnes(server, growth, after))
    fault = overgrown(growth, before, after, { growth: mostGrowth, least: leastFault })
    if (!fault) return seen
  }
  return { ...seen, faults: [...faults, fault!] }
}

function overgrown(
  growth: Grown,
  small: readonly Played[],
  large: readonly Played[],
  limit: { readonly growth: number; readonly least: number },
): string | undefined {
  for (const played of large) {
    const before = small.find(({ verb }) => verb === played.verb)
    if (!before || before.status !== played.status || played.total < limit.least) continue
    if (played.total > limit.growth * Math.max(before.total, leastCompared))
      return `${describe(growth, played)}: ${Math.round(before.total)} ms for a quarter of it`
  }
  return undefined
}

/** How many times the longest turn is as long as one may be; patches put a full body into a full object. */
function excessOf({ verb, longestTurn }: Played): number {
  return longestTurn / (verb === 'patch' || verb === 'apply' ? 2 * mostOfTurn : mostOfTurn)
}

function slowestOf(played: readonly Played[]): Played {
  return played.reduce((slowest, each) => (each.total > slowest.total ? each : slowest))
}

function brokenOnes(server: TestServer, growth: Grown, played: readonly Played[]): string[] {
  const bugs = server.takeBugs()
  return played
    .filter(({ status }) => status >= 500 && status !== timedOut)
    .map(each => `${describe(growth, each)}: ${bugs[0] ?? each.message}`)
}

/** What is kept of requests that have been answered, and what they took meanwhile. */
function hugeOnes(what: string): string[] {
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  collectGarbage()
  const kept = megabytes(process.memoryUsage().heapUsed)
  if (kept > mostKept) return [`${what}: ${kept} MB are kept`]
  const taken = megabytes(process.resourceUsage().maxRSS * 1024)
  return taken > mostTaken ? [`${what}: the process has taken ${taken} MB`] : []
}

function describe({ target, spot, filling }: Grown, played: Played): string {
  const time = `${Math.round(played.total)} ms`
  return `${target.name} ${describeSpot(spot)}, ${filling}, ${played.verb} ${played.status}, ${time}`
}
