/**
 * `npm run test:NAME [-- [--target reference|KUBECONFIG] [FILTER...]]`: one suite with real components. `node tools/suite.ts --list`
 * names those that hold tests. A suite without a test fails: it proves nothing. With a target the tests talk to a real
 * kube-apiserver that is started for them, or to the server of a kubeconfig, instead of ours; tests in a folder `ours/` are about
 * what only ours has and are left out.
 */
import { glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type ComponentName, componentPath, ensureComponent } from './components/index.ts'
import { startReference } from './reference/start-reference.ts'
import { type Suite, suites } from './suites.ts'
import { runFiles } from './test/run-files.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const referenceComponents: readonly ComponentName[] = ['etcd-3.6', 'kube-apiserver-1.36']
const options = { list: { type: 'boolean' }, target: { type: 'string' } } as const
const { positionals, values } = parseArgs({ allowPositionals: true, options })
const [name, ...filters] = positionals

if (values.list) {
  for (const suite of suites) if (!suite.byHand && (await filesOf(suite)).length > 0) console.log(suite.name)
  process.exit(0)
}
const suite = suites.find(each => each.name === name)
if (!suite) {
  console.error(
    `usage: node tools/suite.ts NAME [--target reference|KUBECONFIG] [FILTER...]\nsuites: ${suites.map(each => each.name).join(', ')}`,
  )
  process.exit(2)
}
process.exit(await runSuite(suite))

async function runSuite(suite: Suite): Promise<number> {
  const { title, timeout, hasTarget } = suite
  const concurrency = values.target ? 1 : (suite.concurrency ?? 1)
  const tally = new Tally()
  const files = (await filesOf(suite)).filter(
    file =>
      (filters.length === 0 || filters.some(each => file.includes(each))) &&
      !(values.target && file.includes('/ours/')),
  )
  if (values.target && !hasTarget) tally.fail(name!, 'this suite is about our server only')
  if (files.length === 0)
    tally.fail(name!, `there is no test in interop/${name} (${filters.join(' ') || 'no filter'})`)
  if (tally.failed > 0) return tally.finish()
  const components = [...suite.components, ...(values.target === 'reference' ? referenceComponents : [])]
  for (const component of components) {
    await tally.stage(`component ${component}`, async () => {
      tally.note(await ensureComponent(component, line => tally.note(line)))
    })
  }
  if (tally.failed > 0) return tally.finish()
  await using target = await startTarget()
  if (values.target) tally.note(`against ${values.target}, KUBECONFIG=${target.kubeconfig}`)
  const env = { ...process.env, ...(target.kubeconfig && { INTEROP_KUBECONFIG: target.kubeconfig }) }
  const absolute = files.map(file => join(root, file))
  await tally.stage(title, () =>
    runFiles({ root, files: absolute, tally, env, timeout: timeout * 1000, concurrency }),
  )
  return tally.finish()
}

/** What the tests talk to instead of a server of ours. */
async function startTarget(): Promise<AsyncDisposable & { readonly kubeconfig?: string }> {
  if (values.target !== 'reference') {
    return { ...(values.target && { kubeconfig: values.target }), [Symbol.asyncDispose]: async () => {} }
  }
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-reference-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const reference = stack.use(
    await startReference({
      etcd: componentPath('etcd-3.6'),
      apiserver: componentPath('kube-apiserver-1.36'),
      folder,
      port: 0,
      signal: new AbortController().signal,
    }),
  )
  const running = stack.move()
  return { kubeconfig: reference.kubeconfig, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

async function filesOf({ name }: Suite): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob(`interop/${name}/**/*.test.ts`, { cwd: root })) found.push(file)
  return found.sort()
}
