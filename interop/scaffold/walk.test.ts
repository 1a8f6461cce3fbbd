import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { buildPackages } from '../../tools/build/build-packages.ts'
import { packPackages, plainNpmEnv } from '../../tools/build/pack-packages.ts'
import { ensureComponent } from '../../tools/components/index.ts'
import { run } from '../../tools/components/process.ts'
import { serveRegistry } from '../../tools/test/local-registry.ts'
import { root } from '../support/coxswain.ts'

/** What a new user may wait for the machine, from the first command to the last, in milliseconds. */
const limit = 180_000
const readyWithin = 60_000

const folder = mkdtempSync(join(tmpdir(), 'coxswain-walk-'))
const project = join(folder, 'fleet')
const env: NodeJS.ProcessEnv = { ...plainNpmEnv(), PATH: [folder, process.env.PATH].join(delimiter) }
const stack = new AsyncDisposableStack()
let spent = 0

before(async () => {
  mkdirSync(project)
  chmodSync(folder, 0o755) // the operator runs as another user when this is root
  symlinkSync(await ensureComponent('kubectl-1.36'), join(folder, 'kubectl'))
  const tarballs = await packPackages(root, await buildPackages(root), join(folder, 'tarballs'))
  const registry = await serveRegistry(tarballs)
  stack.use(registry)
  env.npm_config_registry = registry.url
  env.npm_config_cache = join(folder, 'npm-cache')
})

after(async () => {
  await stack.disposeAsync()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command of the walk, and adds up its time. */
async function step(command: string): Promise<string> {
  const started = performance.now()
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: project,
    env,
  })
  const took = performance.now() - started
  spent += took
  console.log(`${(took / 1000).toFixed(1)} s  ${command}`)
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`)
  return stdout
}

async function refuses(command: string, message: RegExp, exitCode = 1): Promise<void> {
  const { code, stderr } = await run('bash', ['-c', command], { cwd: project, env })
  assert.match(stderr, message)
  assert.equal(code, exitCode, stderr)
  assert.doesNotMatch(stderr, /\n {4}at /, 'no stack')
}

/** A control plane whose Pods are processes of this machine; the folder of the project is its image. */
async function startUp(): Promise<void> {
  const args = 'up --port 0 --storage memory --authorization-mode RBAC --runtime process --image controller=.'
  const child: ChildProcess = spawn('npx', ['coxswain', ...args.split(' ')], {
    cwd: project,
    env,
    detached: true,
  })
  const exited = new Promise(resolve => child.on('exit', resolve))
  stack.defer(async () => {
    process.kill(-child.pid!, 'SIGTERM')
    await exited
  })
  env.KUBECONFIG = await new Promise<string>((resolve, reject) => {
    let output = ''
    const late = setTimeout(() => reject(new Error(`it is not ready: ${output}`)), readyWithin)
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        const found = /export KUBECONFIG=(\S+)/.exec(output)?.[1]
        if (found === undefined) return
        clearTimeout(late)
        resolve(found)
      })
  })
}

describe('a new user', { concurrency: 1 }, () => {
  it('makes a project, a kind and its webhooks, which pass their tests and the compiler', async () => {
    await step('npm init -y >/dev/null && npm install --no-audit --no-fund coxswain')
    await step('npx coxswain init --domain example.com --name fleet')
    await step('npx coxswain create api --group crew --version v1 --kind Captain')
    await step(
      'npx coxswain create webhook --group crew --version v1 --kind Captain --defaulting --validating',
    )
    assert.match(await step('npm test'), /pass 2\n.*fail 0/)
    await step('npm run typecheck')
    await step('npm run manifests -- --check')
    assert.match(await step('npx coxswain upgrade --check'), /up to date/)
  })

  it('is refused what would break the project, and nothing is written', async () => {
    const before = readFileSync(join(project, 'operator.ts'), 'utf8')
    const api = 'npx coxswain create api --group crew --version v1 --kind'
    await refuses(`${api} constructor`, /must be in PascalCase/, 2)
    await refuses(`${api} Captain`, /already exists/)
    await refuses('npx coxswain create api --group a.b --version v1 --kind X', /must not have dots/, 2)
    await refuses('npx coxswain create api --group crew', /--kind is required/, 2)
    await refuses('npx coxswain init --domain example.com', /already initialized/)
    writeFileSync(join(project, 'operator.ts'), before.replace('// +coxswain:scaffold:imports', ''))
    await refuses(`${api} Ship`, /operator.ts has no line "\/\/ \+coxswain:scaffold:imports"/)
    writeFileSync(join(project, 'operator.ts'), before)
    assert.ok(!existsSync(join(project, 'api/ship.ts')))
  })

  it('deploys it to coxswain up, where kubectl sees the sample reconciled, and undeploys it', async () => {
    await startUp()
    // An image names the user of its processes; the folder that is the image here does not.
    if (process.getuid?.() === 0)
      await step(
        "sed -i 's/runAsNonRoot: true/runAsNonRoot: true\\n        runAsUser: 65532/' config/manager/manager.yaml",
      )
    const deployed = await step('npm run deploy')
    assert.match(deployed, /deployment "fleet-controller-manager" successfully rolled out/)
    await step('npx coxswain apply -k config/samples')
    await step('kubectl wait captain --all --for=condition=Ready --timeout=60s')
    assert.match(await step('kubectl get captains'), /captain-sample\s+True/)
    await refuses(
      `kubectl patch captain captain-sample --type merge -p '{"spec":{"message":" "}}'`,
      /must not be blank/,
    )
    await refuses(
      'npx coxswain undeploy </dev/null',
      /1 captains.crew.example.com would be deleted; pass --yes/,
      2,
    )
    await step('npx coxswain undeploy --yes')
    assert.equal(await step('kubectl get crd,clusterrole -o name | grep -c fleet || true'), '0\n')
    await step('npx coxswain build-installer --image example.com/fleet:v1')
    await step('kubectl apply --server-side -f dist/install.yaml && kubectl delete -f dist/install.yaml')
  })

  it('has a kubectl plug-in, and may write one', async () => {
    env.PATH = [join(project, 'node_modules/.bin'), env.PATH].join(delimiter)
    assert.match(await step('kubectl coxswain --help'), /Usage: coxswain/)
    await step('npx coxswain create plugin captains && npm install --no-audit --no-fund && npm run typecheck')
    await step('npx coxswain install && kubectl apply -k config/samples')
    assert.match(
      await step(
        'PATH=$PWD/plugins:$PATH; ln -s kubectl-captains.ts plugins/kubectl-captains && kubectl captains',
      ),
      /captain-sample\tUnknown/,
    )
    await refuses('npx coxswain uninstall </dev/null', /pass --yes/, 2)
    await step('npx coxswain uninstall --yes')
  })

  it('waited less than three minutes for the machine', () => {
    console.log(`${(spent / 1000).toFixed(1)} s in all`)
    assert.ok(spent < limit, `${spent} ms`)
  })
})
