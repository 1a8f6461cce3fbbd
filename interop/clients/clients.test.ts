import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { root } from '../support/coxswain.ts'

interface Action {
  readonly runs: { readonly steps: readonly { readonly name: string; readonly run: string }[] }
}

describe('the action for GitHub', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cx-action-'))
  const env = {
    ...process.env,
    COXSWAIN_CLUSTERS: join(folder, 'clusters'),
    GITHUB_ACTION_PATH: root,
    GITHUB_ENV: join(folder, 'env'),
    GITHUB_OUTPUT: join(folder, 'output'),
    KUBECONFIG: join(folder, 'kubeconfig'),
    NAME: 'job',
    FLAGS: '--controllers=none --event-ttl=2h',
  }
  const command = [join(root, 'packages/coxswain/bin/coxswain.js'), 'cluster', 'delete', 'job']
  after(async () => {
    await runOrFail(process.execPath, command, { env })
    rmSync(folder, { recursive: true, force: true })
  })

  it('creates a cluster with its flags, and exports its kubeconfig', async () => {
    const action = readYaml(readFileSync(join(root, 'action.yml'), 'utf8'))!.value as unknown as Action
    const { run } = action.runs.steps.find(({ name }) => name === 'Create the cluster')!
    await runOrFail('bash', ['-euo', 'pipefail', '-c', run], { env })
    assert.match(readFileSync(env.KUBECONFIG, 'utf8'), /current-context: coxswain-job/)
    assert.equal(readFileSync(env.GITHUB_ENV, 'utf8'), `KUBECONFIG=${env.KUBECONFIG}\n`)
    assert.equal(readFileSync(env.GITHUB_OUTPUT, 'utf8'), `kubeconfig=${env.KUBECONFIG}\n`)
  })
})

describe('the helper for tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-clients-'))
  const command = join(folder, 'coxswain')
  writeFileSync(
    command,
    `#!/bin/sh\nexec '${process.execPath}' '${root}packages/coxswain/bin/coxswain.js' "$@"\n`,
  )
  chmodSync(command, 0o755)
  after(() => rmSync(folder, { recursive: true, force: true }))

  const runIn = (language: string, program: string, ...args: string[]) =>
    runOrFail(program, args, {
      cwd: join(root, 'clients', language),
      env: {
        ...goEnvironment(),
        COXSWAIN: command,
        CARGO_TARGET_DIR: join(folder, 'cargo'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    })

  it('in Go starts and stops a server', async () => {
    await runIn('go', 'go', 'test', '-count=1', './...')
  })

  it('in Python is a fixture of pytest', async () => {
    await runIn('python', 'python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'pytest_coxswain')
  })

  it('in Java is an extension of JUnit', async () => {
    await runIn('java', 'mvn', '-q', '-B', `-Dcoxswain.build=${join(folder, 'maven')}`, 'test')
  })

  it('in Rust starts a server that ends when it is dropped', async () => {
    await runIn('rust', 'cargo', 'test', '-q')
  })
})
