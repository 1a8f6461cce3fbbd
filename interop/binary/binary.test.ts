import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { componentPath } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { root } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'

/** A file system with the executable, the libraries it is linked with, kubectl and an operator: no Node, no shell. */
const machine = mkdtempSync(join(tmpdir(), 'coxswain-machine-'))
const inMachine = (program: string, ...args: string[]) =>
  ['/usr/sbin/chroot', machine, program, ...args] as const

function put(file: string, at: string): void {
  mkdirSync(join(machine, dirname(at)), { recursive: true })
  copyFileSync(file, join(machine, at))
}

function kubectl(...args: string[]): string {
  const [chroot, ...rest] = inMachine('/kubectl', '--kubeconfig=/data/kubeconfig', ...args)
  return execFileSync(chroot, rest, { encoding: 'utf8', env: {} })
}

describe('the executable on a machine with nothing but libc', () => {
  let server: ChildProcess
  let closed: Promise<unknown[]>
  let output = ''

  before(async () => {
    const binary = join(machine, 'coxswain')
    await runOrFail('npm', ['run', 'build:binary', '--', binary], { cwd: root })
    const linked = execFileSync('ldd', [binary], { encoding: 'utf8' })
    for (const [library] of linked.matchAll(/\/\S+/g)) put(library, library)
    put(componentPath('kubectl-1.36'), 'kubectl')
    put(join(root, 'examples/01-at/operator.ts'), 'operator.ts')
    put(join(root, 'examples/01-at/sample.yaml'), 'sample.yaml')
    mkdirSync(join(machine, 'tmp'))
    const [chroot, ...args] = inMachine(
      '/coxswain',
      'up',
      '--port=0',
      '--data-dir=/data',
      '--operator=/operator.ts',
      '--log-level=info',
      '--log-format=json',
    )
    server = spawn(chroot, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
    closed = once(server, 'close')
    server.stderr!.on('data', chunk => {
      output += chunk
    })
    const [line] = await Promise.race([once(server.stdout!, 'data'), closed])
    assert.match(String(line), /ready at/, output)
  })
  after(async () => {
    server?.kill('SIGKILL')
    await closed
    rmSync(machine, { recursive: true, force: true })
  })

  it('says which commit it is, and which Kubernetes', () => {
    const [chroot, ...args] = inMachine('/coxswain', '--version')
    assert.match(
      execFileSync(chroot, args, { encoding: 'utf8', env: {} }),
      /^0\.1\.0 \(commit [0-9a-f]{12}, Kubernetes 1\.36\.4\)\n$/,
    )
  })

  it('runs a Deployment for kubectl, and collects what it made', async () => {
    kubectl('create', 'deployment', 'web', '--image=example/web', '--replicas=2')
    kubectl('rollout', 'status', 'deployment/web', '--timeout=120s')
    assert.equal(kubectl('get', 'pods', '-o', 'name').trim().split('\n').length, 2)
    kubectl('delete', 'deployment', 'web')
    await eventually('no Pod is left', async () => kubectl('get', 'pods', '-o', 'name') === '')
  })

  it('runs an operator in TypeScript with the packages that it carries', async () => {
    kubectl('apply', '-f', '/sample.yaml')
    await eventually('it runs', async () =>
      /DONE|RUNNING/.test(kubectl('get', 'ats', '-o', 'jsonpath={.items[*].status.phase}')),
    )
  })

  it('is the same, but for what V8 compiled, when it is built again', async () => {
    const { bundleCommand } = await import('../../tools/build/bundle.ts')
    const folders = ['first', 'second'].map(name => join(machine, 'tmp', name))
    for (const folder of folders) await bundleCommand({ root, folder, kind: 'executable' })
    for (const name of ['coxswain.js', 'loops-entry.js', 'worker.js', 'yaml-worker.js'])
      assert.ok(readFileSync(join(folders[0]!, name)).equals(readFileSync(join(folders[1]!, name))), name)
  })

  it('stops cleanly', async () => {
    server.kill('SIGTERM')
    assert.equal((await closed)[0], 0, output)
    assert.match(output, /"msg":"serving securely"/)
  })
})
