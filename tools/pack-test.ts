/**
 * `npm run test:pack`: builds and packs every package, installs the tarballs in a folder of its own and imports every
 * entry point with plain Node 24, the oldest that users may have. Declarations are checked as a user's compiler sees them,
 * the server is started from there and talked to, and an
 * operator's tests run with Vitest and Jest.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages } from './build/build-packages.ts'
import { packPackages, plainNpmEnv } from './build/pack-packages.ts'
import { isPublished } from './build/published.ts'
import { entryPoints, readManifest, type WorkspacePackage } from './checks/workspace.ts'
import { cacheFolder } from './components/index.ts'
import { runOrFail } from './components/process.ts'
import { installRunners, runProject, testRunners } from './test/runner-projects.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readyWithin = 30_000
const talkWithin = 60_000
/** A conversation with the server in `KUBECONFIG`: what only a newer Node can do fails here. */
const conversation = `
import { ConfigMap, Pod } from '@coxswain/api/core/v1'
import { Deployment } from '@coxswain/api/apps/v1'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, encodeText } from '@coxswain/kit'

const { signal } = new AbortController()
await using connected = await createClientFromKubeconfig({ env: createRealEnv(), userAgent: 'pack-test/0.1' })
const { client, transport } = connected
const labels = { app: 'web' }
const key = { namespace: 'default', name: 'web' }
await client.create(ConfigMap, { metadata: key, data: { key: 'value' } })
await client.create(Deployment, {
  metadata: key,
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
  },
})
while ((await client.get(Deployment, key))?.status?.availableReplicas !== 2)
  await new Promise(resolve => setTimeout(resolve, 100))
const { items } = await client.list(Pod, { namespace: 'default' })
if (items.length !== 2) throw new Error(items.length + ' pods, not 2')
await client.delete(ConfigMap, key)
if (await client.get(ConfigMap, key)) throw new Error('the ConfigMap is still there')
const path = '/api/v1/namespaces/default/configmaps'
const send = (method, headers, body) =>
  transport.send({ method, path, query: '', headers, signal, ...(body && { body: encodeText(body) }) })
for (const accept of ['application/yaml', 'application/vnd.kubernetes.protobuf']) {
  const { status } = await send('GET', { accept })
  if (status !== 200) throw new Error(accept + ': ' + status)
}
const malformed = { 'application/json': '[1]', 'application/vnd.kubernetes.protobuf': 'not protobuf' }
for (const [type, body] of Object.entries(malformed)) {
  const { status } = await send('POST', { 'content-type': type }, body)
  if (status !== 400) throw new Error(body + ' as ' + type + ': ' + status)
}
`

const tally = new Tally()
const folder = await mkdtemp(join(tmpdir(), 'coxswain-pack-'))
const env = plainNpmEnv()

try {
  let packages: WorkspacePackage[] = []
  await tally.stage('build', async () => {
    packages = await buildPackages(root)
    tally.pass()
  })
  if (tally.failed === 0) await tally.stage('pack and install', () => install(packages))
  if (tally.failed === 0) {
    const node = await ensureNode24()
    await tally.stage('import every entry point with Node 24', () => importAll(packages, node))
    await tally.stage('declarations', () => checkTypes(packages))
    await tally.stage('commands', () => runCommands(packages, node))
    await tally.stage('coxswain up with Node 24', () => startServer(node))
    await tally.stage('tests with Vitest and Jest', () => runTests(node))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit(tally.finish())

async function install(packages: readonly WorkspacePackage[]): Promise<void> {
  const tarballs = (await packPackages(root, packages, folder)).map(({ file }) => file)
  // The one optional package that an entry point, @coxswain/kit/opentelemetry, cannot be imported without.
  const { devDependencies = {} } = await readManifest(root)
  const peer = `@opentelemetry/api@${devDependencies['@opentelemetry/api']}`
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await runOrFail('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', peer, ...tarballs], {
    cwd: folder,
    env,
  })
  for (const { manifest } of packages) {
    if (!existsSync(join(folder, 'node_modules', manifest.name ?? '', 'LICENSE'))) {
      throw new Error(`${manifest.name} was installed without its license`)
    }
    tally.pass()
  }
}

async function ensureNode24(): Promise<string> {
  const home = join(cacheFolder, 'node-24')
  const node = join(home, 'node_modules/node/bin/node')
  if (!existsSync(node)) {
    await mkdir(home, { recursive: true })
    await writeFile(
      join(home, 'package.json'),
      JSON.stringify({ private: true, allowScripts: { node: true } }),
    )
    await runOrFail('npm', ['install', '--no-audit', '--no-fund', 'node@24'], { cwd: home, env })
  }
  const version = await runOrFail(node, ['--version'])
  if (!version.startsWith('v24.')) throw new Error(`${node} is ${version.trim()}, not Node 24`)
  return node
}

async function specifiersOf(packages: readonly WorkspacePackage[]): Promise<string[]> {
  const specifiers: string[] = []
  for (const each of packages) {
    for (const { entry, file } of await entryPoints(join(root, 'packages', each.folder), each.manifest)) {
      if (file.startsWith('./bin/') || !isPublished(entry)) continue // `runCommands` starts programs
      specifiers.push(`${each.manifest.name}${entry.slice(1)}`)
    }
  }
  return specifiers
}

async function importAll(packages: readonly WorkspacePackage[], node: string): Promise<void> {
  for (const specifier of await specifiersOf(packages)) {
    const program = specifier.endsWith('.json')
      ? `await import('${specifier}', { with: { type: 'json' } })`
      : `await import('${specifier}')`
    const started = performance.now()
    await runOrFail(node, ['--input-type=module', '-e', program], { cwd: folder }).then(
      () => tally.pass(),
      error => tally.fail(`import ${specifier}`, error.message),
    )
    if (performance.now() - started > 5_000)
      tally.fail(`import ${specifier}`, 'the process stays: importing starts something')
  }
}

async function checkTypes(packages: readonly WorkspacePackage[]): Promise<void> {
  const imports = (await specifiersOf(packages)).filter(specifier => !specifier.endsWith('.json'))
  await writeFile(
    join(folder, 'consumer.ts'),
    imports
      .map((specifier, index) => `import * as m${index} from '${specifier}'\nexport { m${index} }\n`)
      .join(''),
  )
  const types = join(root, 'node_modules/@types')
  const args = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'esnext',
    '--lib',
    'esnext,dom',
    '--types',
    'node',
  ]
  await runOrFail(join(root, 'node_modules/.bin/tsc'), [...args, '--typeRoots', types, 'consumer.ts'], {
    cwd: folder,
  })
  tally.pass()
}

async function runCommands(packages: readonly WorkspacePackage[], node: string): Promise<void> {
  for (const { manifest } of packages) {
    const names = typeof manifest.bin === 'string' ? [manifest.name ?? ''] : Object.keys(manifest.bin ?? {})
    for (const name of names) {
      await runOrFail(node, [join(folder, 'node_modules/.bin', name), '--help'], { cwd: folder })
      tally.pass()
    }
  }
}

/** Workers, tables and everything else that is found by its place in the package: a server that starts has found it. */
async function startServer(node: string): Promise<void> {
  const command = join(folder, 'node_modules/.bin/coxswain')
  if (!existsSync(command)) throw new Error('no package brings the command coxswain')
  const args = [command, 'up', '--port', '0', '--data-dir', join(folder, 'data')]
  const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const ready = new Promise<void>(resolve => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        if (output.includes('export KUBECONFIG=')) resolve()
      })
    }
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), readyWithin)
  await Promise.race([ready, ended])
  clearTimeout(timer)
  const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1]
  if (kubeconfig !== undefined) {
    const program = ['--input-type=module', '-e', conversation]
    await runOrFail(node, program, {
      cwd: folder,
      env: { ...env, KUBECONFIG: kubeconfig },
      timeout: talkWithin,
    }).then(
      () => tally.pass(),
      error => tally.fail('a conversation with the server', `${error.message}\n${output}`),
    )
  }
  child.kill('SIGTERM')
  const code = await ended
  if (!output.includes('https://'))
    throw new Error(`coxswain up was not ready within ${readyWithin} ms\n${output}`)
  if (code !== 0) throw new Error(`coxswain up ended with code ${code} after SIGTERM\n${output}`)
  tally.pass()
}

async function runTests(node: string): Promise<void> {
  await installRunners(folder, env)
  for (const runner of testRunners) {
    await runProject(runner, folder, node).then(
      () => tally.pass(),
      error => tally.fail(`tests with ${runner.name}`, error.message),
    )
  }
}
