import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { cacheFolder } from '../../tools/components/index.ts'
import { run, runOrFail } from '../../tools/components/process.ts'

/** A package of controller-runtime whose tests start envtest. */
export interface TestedPackage {
  readonly path: string
  /** The folder of its sources, which its tests read. */
  readonly folder: string
  /** The compiled tests. */
  readonly program: string
}

const builds = join(cacheFolder, 'build')

/** Downloads a version and compiles the tests of every package that starts envtest. */
export async function compileTests(version: string): Promise<TestedPackage[]> {
  const source = join(builds, `controller-runtime-${version}`)
  if (!existsSync(source)) {
    const module = `sigs.k8s.io/controller-runtime@v${version}`
    const answer = await runOrFail('go', ['mod', 'download', '-json', module], {
      cwd: tmpdir(),
      env: goEnvironment(),
    })
    mkdirSync(builds, { recursive: true })
    cpSync(JSON.parse(answer).Dir, source, { recursive: true })
    // The proxy's archives keep no modes: scripts of the tests are run.
    await runOrFail('chmod', ['-R', 'u+wx', source])
  }
  const files = globSync('pkg/**/*_test.go', { cwd: source }).filter(file =>
    readFileSync(join(source, file), 'utf8').includes('envtest'),
  )
  const packages: TestedPackage[] = []
  for (const path of [...new Set(files.map(file => dirname(file)))].sort()) {
    const program = join(
      cacheFolder,
      'bin',
      `controller-runtime-${version}`,
      `${path.replaceAll('/', '-')}.test`,
    )
    if (!existsSync(program))
      await runOrFail('go', ['test', '-c', '-o', program, `./${path}`], { cwd: source, env: goEnvironment() })
    packages.push({ path, folder: join(source, path), program })
  }
  return packages
}

/** What the tests of a package came to. */
export interface TestResult {
  readonly passed: number
  /** The names of tests and specs that failed. */
  readonly failed: readonly string[]
  readonly seconds: number
  readonly output: string
}

/** Runs the tests of a package with the programs of a folder. */
export async function runTests({ program, folder }: TestedPackage, assets: string): Promise<TestResult> {
  const started = performance.now()
  const { stdout, stderr } = await run(program, ['-test.v', '-test.timeout=900s'], {
    cwd: folder,
    env: { ...process.env, KUBEBUILDER_ASSETS: assets },
  })
  const output = `${stdout}${stderr}`
  return { ...countResults(output), seconds: (performance.now() - started) / 1000, output }
}

/** Counts Ginkgo's specs, and Go's tests apart from the one that runs the specs. */
export function countResults(text: string): { readonly passed: number; readonly failed: readonly string[] } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Ginkgo prints colours
  const plain = text.replace(/\x1b\[[0-9;]*m/g, '')
  const ended = [...plain.matchAll(/^\s*--- (PASS|FAIL): (\S+)/gm)].map(([, result, name]) => ({
    result,
    name: name!,
  }))
  // A test with subtests is not counted: its parts are.
  const leaves = ended.filter(({ name }) => !ended.some(other => other.name.startsWith(`${name}/`)))
  const specs = /(\d+) Passed.*?(\d+) Failed/.exec(plain)
  const suite = specs
    ? leaves.find(({ name }) => /^Test(?!.*\/)/.test(name) && isSuite(plain, name))?.name
    : undefined
  const own = leaves.filter(({ name }) => name !== suite)
  return {
    passed: own.filter(({ result }) => result === 'PASS').length + Number(specs?.[1] ?? 0),
    failed: [
      ...own.filter(({ result }) => result === 'FAIL').map(({ name }) => name),
      ...[...plain.matchAll(/^\s*\[(?:FAIL|PANICKED!|TIMEDOUT)\] (.+)$/gm)].map(([, name]) => name!),
      ...(/^panic: |^FAIL: /m.test(plain) && !specs && leaves.length === 0 ? ['the program itself'] : []),
    ],
  }
}

/** Whether Ginkgo ran inside this test. */
function isSuite(text: string, name: string): boolean {
  const start = text.indexOf(`=== RUN   ${name}\n`)
  const end = text.indexOf(`: ${name} (`, start)
  return start >= 0 && text.slice(start, end).includes('Running Suite')
}
