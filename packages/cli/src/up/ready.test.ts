import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Pod } from '@coxswain/api/core/v1'
import { createClient } from '@coxswain/client'
import { accessFromKubeconfig, loadKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))
/** How many servers are started; 50 in torture. */
const starts = Math.min(50, Number(process.env.TORTURE_RUNS ?? 3))

/** Starts a server, and creates a Pod as soon as the ready line is printed. */
async function createFirstPod(dataDir: string): Promise<string> {
  const up = ['up', '--port', '0', '--storage', 'memory', '--data-dir', dataDir]
  const child = spawn(process.execPath, [command, ...up], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  try {
    const [line] = await Promise.race([once(child.stdout, 'data'), closed])
    const [, kubeconfig = ''] = /KUBECONFIG=(.+)\n/.exec(String(line)) ?? []
    const env = createRealEnv()
    const access = await accessFromKubeconfig(await loadKubeconfig({ path: kubeconfig }), { env })
    await using transport = access.transport
    const client = createClient({ env, transport })
    const spec = { containers: [{ name: 'main', image: 'busybox' }] }
    const pod = await client.create(Pod, { metadata: { namespace: 'default', name: 'first' }, spec })
    return pod.spec.serviceAccountName ?? ''
  } finally {
    child.kill('SIGTERM')
    await closed
  }
}

describe('the ready line of coxswain up', () => {
  it(`means that a Pod is accepted, in ${starts} starts`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coxswain-ready-'))
    try {
      for (let start = 0; start < starts; start++)
        assert.equal(await createFirstPod(join(directory, String(start))), 'default')
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
