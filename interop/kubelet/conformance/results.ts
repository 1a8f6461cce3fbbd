import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { kubernetesVersion } from '../../../tools/components/kubernetes.ts'

export const resultsFile: string = fileURLToPath(new URL('results.json', import.meta.url))

export type Verdict = 'passed' | 'failed' | 'not run'

/** What came of a conformance test, the last time that it ran. */
export interface TestResult {
  readonly name: string
  readonly verdict: Verdict
  readonly seconds?: number
  /** When it began, without the time of day. */
  readonly date?: string
  /** The first line of what it failed with. */
  readonly failure?: string
}

export interface Results {
  readonly kubernetes: string
  /** Every conformance test of that release, by name. */
  readonly tests: readonly TestResult[]
}

/** Those of the last runs; none where nothing ran. */
export function readResults(): Results {
  if (!existsSync(resultsFile)) return { kubernetes: kubernetesVersion, tests: [] }
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as Results
}

/** All of `names`, with the new results in place of the old ones. Tests that never ran are there too. */
export function mergeResults(old: Results, names: readonly string[], found: readonly TestResult[]): Results {
  const known = new Map([...old.tests, ...found].map(test => [test.name, test]))
  const tests = names.toSorted().map(name => known.get(name) ?? { name, verdict: 'not run' as const })
  return { kubernetes: kubernetesVersion, tests }
}

/** Never half written: a run may be ended at any time. */
export function writeResults(results: Results): void {
  writeFileSync(`${resultsFile}.partial`, `${JSON.stringify(results, undefined, 2)}\n`)
  renameSync(`${resultsFile}.partial`, resultsFile)
}

/** The part of Ginkgo's report that matters here. */
export interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly State: string
  readonly StartTime: string
  /** In nanoseconds. */
  readonly RunTime: number
  readonly Failure?: { readonly Message: string }
}

export const nameOf = ({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ')

/** The tests of a report that ran. A test that skips itself proves nothing: it has not run. */
export function resultsOf(specs: readonly SpecReport[]): TestResult[] {
  return specs
    .filter(spec => spec.LeafNodeType === 'It' && spec.State !== 'skipped' && spec.State !== 'pending')
    .map(spec => ({
      name: nameOf(spec),
      verdict: spec.State === 'passed' ? 'passed' : 'failed',
      seconds: Math.round(spec.RunTime / 1e8) / 10,
      date: spec.StartTime.slice(0, 10),
      ...(spec.State !== 'passed' && { failure: firstLine(spec.Failure?.Message ?? spec.State) }),
    }))
}

const longest = 300
const firstLine = (text: string) =>
  text
    .split('\n')
    .find(line => line.trim() !== '')!
    .slice(0, longest)
