import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { componentPath } from '../../../tools/components/index.ts'
import { run, runOrFail } from '../../../tools/components/process.ts'
import type { ControlPlane } from '../cluster/control-plane.ts'
import { nameOf, resultsOf, type SpecReport, type TestResult } from './results.ts'

const conformance = '\\[Conformance\\]'

const specsOf = (file: string) =>
  (JSON.parse(readFileSync(file, 'utf8')) as { SpecReports: SpecReport[] }[]).flatMap(
    ({ SpecReports }) => SpecReports,
  )

/** The names of all conformance tests of e2e.test, from a run that does nothing. */
export async function listTests(folder: string): Promise<string[]> {
  const report = join(folder, 'list.json')
  const flags = [
    '--provider=skeleton',
    '--kubeconfig=/dev/null',
    '--ginkgo.dry-run',
    `--ginkgo.focus=${conformance}`,
  ]
  await runOrFail(componentPath('e2e.test-1.36'), [...flags, `--ginkgo.json-report=${report}`], {
    cwd: folder,
  })
  return specsOf(report)
    .filter(spec => spec.LeafNodeType === 'It' && spec.State === 'passed')
    .map(nameOf)
}

export interface RunTestsOptions {
  readonly names: readonly string[]
  /** Tests at a time. */
  readonly processes: number
  /** Where output and reports go. */
  readonly folder: string
  /** Tells the files of one run from those of others. */
  readonly label: string
}

/** Runs tests by their names, and gives the results of those that ran. */
export async function runTests(controlPlane: ControlPlane, options: RunTestsOptions): Promise<TestResult[]> {
  const { names, processes, folder, label } = options
  mkdirSync(folder, { recursive: true })
  const report = join(folder, `${label}.json`)
  // Ginkgo knows a suite by its ending.
  const suite = join(folder, 'e2e.test')
  if (!existsSync(suite)) symlinkSync(componentPath('e2e.test-1.36'), suite)
  const focus = names.map(name => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  const [shell, ...args] = controlPlane.host.enter(componentPath('ginkgo-1.36'), [
    ...[`--procs=${processes}`, `--focus=(${focus})$`, '--silence-skips', '--no-color', '--timeout=4h'],
    ...[`--json-report=${label}.json`, `--output-dir=${folder}`, '-v', suite, '--'],
    ...[`--kubeconfig=${controlPlane.kubeconfig}`, '--provider=skeleton', '--num-nodes=2'],
    ...[`--kubectl-path=${componentPath('kubectl-1.36')}`, `--report-dir=${folder}`, '--disable-log-dump'],
    '--node-os-distro=debian',
  ])
  const { stdout, stderr } = await run(shell, args, { cwd: folder })
  writeFileSync(join(folder, `${label}.log`), stdout + stderr)
  return resultsOf(specsOf(report))
}
