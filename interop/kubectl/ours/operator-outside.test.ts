import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root, startServer } from '../../support/coxswain.ts'
import { createKubectl } from '../../support/kubectl.ts'

describe('coxswain run', () => {
  it('runs an operator against the server of the kubeconfig, through kill -9 of that server', async () => {
    await using server = await startServer()
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const command = [
      join(root, 'packages/coxswain/bin/coxswain.js'),
      'run',
      '--install',
      'examples/01-at/operator.ts',
    ]
    const child = spawn(process.execPath, command, {
      cwd: root,
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
      stdio: 'ignore',
    })
    try {
      await kubectl
        .follow('wait', '--for=create', 'crd/ats.cnat.programming-kubernetes.info', '--timeout=120s')
        .until(/condition met/)
      const applied = await kubectl('apply', '-f', 'examples/01-at/crd.yaml')
      assert.equal(applied.code, 0, applied.stderr)
      await server.kill()
      await server.restart()
      const created = await kubectl('apply', '-f', 'examples/01-at/sample.yaml')
      assert.equal(created.code, 0, created.stderr)
      const waited = await kubectl(
        'wait',
        '--for=jsonpath={.status.phase}=DONE',
        'at/cnrex',
        '--timeout=120s',
      )
      assert.equal(waited.code, 0, waited.stderr)
      assert.equal(child.exitCode, null, 'the operator is still the same process')
    } finally {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill()
      await ended
    }
  })
})
