/**
 * `npm run test:readme [-- PAGE...]`: runs the commands that our pages show. The blocks marked ```` ```sh test ```` run in order, in one
 * folder, with kubectl 1.36 in PATH. One marked `test stays` starts something that stays: it has to print an https URL,
 * its KUBECONFIG holds for the blocks after it, and it is stopped at the end.
 *
 * Pages of this repository run at its root. A guide begins in an empty folder, where npm finds our packages as they would be
 * published; its blocks marked ```` ```ts file NAME ```` are the files it talks about.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages } from './build/build-packages.ts'
import { packPackages, plainNpmEnv } from './build/pack-packages.ts'
import { type Fence, findFences, readMarkdown } from './checks/markdown.ts'
import { ensureComponent } from './components/index.ts'
import { run } from './components/process.ts'
import { serveRegistry } from './test/local-registry.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const named = process.argv.slice(2)
const only = (pages: readonly string[]) => pages.filter(page => named.length === 0 || named.includes(page))
const documents = only(['README.md', 'CONTRIBUTING.md'])
const guides = only([
  'docs/first-operator.md',
  'docs/testing-operators.md',
  'docs/simulator.md',
  'docs/deploy.md',
  'docs/shipping.md',
  'docs/project.md',
  'docs/any-domain.md',
  'docs/custom-api-server.md',
])
const readyWithin = 60_000

const tally = new Tally()
const folder = await mkdtemp(join(tmpdir(), 'coxswain-readme-'))
const env: NodeJS.ProcessEnv = { ...plainNpmEnv(), PATH: [folder, process.env.PATH].join(delimiter) }
const staying: ChildProcess[] = []
const stack = new AsyncDisposableStack()
try {
  await symlink(await ensureComponent('kubectl-1.36'), join(folder, 'kubectl'))
  for (const document of documents) await runPage(document, root)
  await tally.stage('pack', async () => {
    const tarballs = await packPackages(root, await buildPackages(root), join(folder, 'tarballs'))
    const registry = await serveRegistry(tarballs)
    stack.use(registry)
    env.npm_config_registry = registry.url
    env.npm_config_cache = join(folder, 'npm-cache')
    tally.pass()
  })
  for (const [index, guide] of guides.entries()) {
    if (!env.npm_config_registry) break
    const place = join(folder, `guide-${index}`)
    await mkdir(place)
    await runPage(guide, place)
  }
} finally {
  await Promise.all(staying.map(stop))
  await stack.disposeAsync()
  await rm(folder, { recursive: true, force: true })
}
process.exit(tally.finish())

async function runPage(page: string, cwd: string): Promise<void> {
  const blocks = findFences(await readMarkdown(root, page)).filter(({ info }) =>
    cwd === root ? /^sh test\b/.test(info) : /^sh test\b|^\w+ file /.test(info),
  )
  if (!blocks.some(({ info }) => info.startsWith('sh'))) tally.fail(page, 'shows no command that is tested')
  for (const block of blocks) {
    await tally.stage(`${page}:${block.line}`, async () => {
      const [, , name] = block.info.split(' ')
      if (block.info === 'sh test stays') await start(block, cwd)
      else if (block.info.startsWith('sh')) await execute(block, cwd)
      else await writeFile(join(cwd, name!), block.body)
      tally.pass()
    })
  }
}

async function execute({ body }: Fence, cwd: string): Promise<void> {
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', body], { cwd, env })
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout}${stderr}`)
}

function start({ body }: Fence, cwd: string): Promise<void> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', body], { cwd, env, detached: true })
  staying.push(child)
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (why: string) => reject(new Error(`${why}\n${output}`))
    const timer = setTimeout(() => fail(`printed no URL within ${readyWithin} ms`), readyWithin)
    const read = (chunk: string) => {
      output += chunk
      if (!/https:\/\/\S+/.test(output)) return
      const kubeconfig = /KUBECONFIG=(\S+)/.exec(output)?.[1]
      if (kubeconfig) env.KUBECONFIG = kubeconfig
      clearTimeout(timer)
      resolve()
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read)
    child.on('error', error => fail(error.message))
    child.on('exit', code => {
      clearTimeout(timer)
      fail(`ended with code ${code}`)
    })
  })
}

/** The shell and what it started are one process group. */
function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || !child.pid) return Promise.resolve()
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  process.kill(-child.pid, 'SIGTERM')
  return exited
}
