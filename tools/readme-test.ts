/**
 * `npm run test:readme`: runs the commands that README.md and CONTRIBUTING.md show. The blocks marked ```` ```sh test ```` run in order, in one
 * folder, with kubectl 1.36 in PATH. One marked `test stays` starts something that stays: it has to print an https URL,
 * its KUBECONFIG holds for the blocks after it, and it is stopped at the end.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Fence, findFences, readMarkdown } from './checks/markdown.ts'
import { ensureComponent } from './components/index.ts'
import { run } from './components/process.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const documents = ['README.md', 'CONTRIBUTING.md']
const readyWithin = 60_000

const tally = new Tally()
const folder = await mkdtemp(join(tmpdir(), 'coxswain-readme-'))
const env: NodeJS.ProcessEnv = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) }
const staying: ChildProcess[] = []
try {
  await symlink(await ensureComponent('kubectl-1.36'), join(folder, 'kubectl'))
  for (const document of documents) {
    const blocks = findFences(await readMarkdown(root, document)).filter(({ info }) =>
      /^sh test\b/.test(info),
    )
    if (blocks.length === 0) tally.fail(document, 'shows no command that is tested')
    for (const block of blocks) {
      await tally.stage(`${document}:${block.line}`, async () => {
        if (block.info === 'sh test stays') await start(block)
        else await execute(block)
        tally.pass()
      })
    }
  }
} finally {
  await Promise.all(staying.map(stop))
  await rm(folder, { recursive: true, force: true })
}
process.exit(tally.finish())

async function execute({ body }: Fence): Promise<void> {
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', body], { cwd: root, env })
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout}${stderr}`)
}

function start({ body }: Fence): Promise<void> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', body], { cwd: root, env, detached: true })
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
