/**
 * `node interop/scaffold/kubebuilder-walk.ts`: the way from an empty folder to a deployment with kubebuilder, timed step by step beside ours in
 * walk.test.ts: init, create api, manifests, test with envtest, and deploy of its manifests to our server with real kustomize and kubectl.
 * By hand: it compiles controller-runtime.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureComponent } from '../../tools/components/index.ts'
import { startServer } from '../support/coxswain.ts'

const program = (name: Parameters<typeof ensureComponent>[0]) =>
  ensureComponent(name, line => console.error(line))
const kubebuilder = await program('kubebuilder-4')
const controllerGen = await program('controller-gen')
const kustomize = await program('kustomize-5.8')
const kubectl = await program('kubectl-1.36')
const assets = mkdtempSync(join(tmpdir(), 'coxswain-envtest-'))
symlinkSync(await program('kube-apiserver-1.36'), join(assets, 'kube-apiserver'))
symlinkSync(await program('etcd-3.6'), join(assets, 'etcd'))
symlinkSync(kubectl, join(assets, 'kubectl'))
const folder = mkdtempSync(join(tmpdir(), 'coxswain-kubebuilder-'))

let total = 0
function step(name: string, line: string, env: NodeJS.ProcessEnv = {}): void {
  const command = `TIMEFORMAT='%R %U %S'; time (${line})`
  const { status, stderr, stdout } = spawnSync('bash', ['-c', command], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`${name}: ${line}\n${stdout}\n${stderr}`)
  const [wall = 0, user = 0, system = 0] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  total += user + system
  console.log(`${name}: ${wall.toFixed(1)} s, ${(user + system).toFixed(1)} s of processor time`)
}

try {
  step('init', `${kubebuilder} init --domain example.com --repo example.com/fleet`)
  step(
    'create api',
    `${kubebuilder} create api --group crew --version v1 --kind Captain --resource --controller --make=false`,
  )
  step(
    'generate and manifests',
    `${controllerGen} object paths=./... && ${controllerGen} rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases`,
  )
  step('test', 'go test ./internal/... ./api/...', { KUBEBUILDER_ASSETS: assets })
  await using server = await startServer('--storage', 'memory')
  step('deploy', `${kustomize} build config/default | ${kubectl} apply --server-side -f -`, {
    KUBECONFIG: server.kubeconfig,
  })
  console.log(`together: ${total.toFixed(1)} s of processor time`)
} finally {
  rmSync(folder, { recursive: true, force: true })
  rmSync(assets, { recursive: true, force: true })
}
