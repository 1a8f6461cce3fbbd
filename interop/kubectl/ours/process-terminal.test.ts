import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { AsyncQueue, createRealClock } from '@coxswain/kit'
import type { TerminalSize } from '@coxswain/kubelet'
import { createProcessRuntime } from '@coxswain/kubelet/process'

const directory = mkdtempSync(join(tmpdir(), 'process-terminal-'))
after(() => rmSync(directory, { recursive: true, force: true }))

describe('the terminal of a process', () => {
  it('has the size it begins with, and changes it', async () => {
    await using runtime = createProcessRuntime({ directory })
    await runtime.start(createRealClock())
    const container = await runtime.startContainer(
      {
        pod: { uid: `u${process.pid}`, namespace: 'default', name: 'p' },
        name: 'main',
        role: 'main',
        restartPolicy: 'Never',
        annotations: {},
        attempt: 0,
        image: 'busybox',
        command: ['sleep', '600'],
        env: new Map(),
        mounts: [],
        stdin: false,
        stdinOnce: false,
        tty: false,
        terminationMessagePath: '/dev/termination-log',
        runAsNonRoot: false,
      },
      new AbortController().signal,
    )
    const sizes = new AsyncQueue<TerminalSize>()
    sizes.push({ width: 91, height: 31 })
    let output = ''
    let hasGrown = false
    const script = 'trap "stty size; exit" WINCH; stty size; while :; do sleep 0.1; done'
    const exitCode = await container.exec(['sh', '-c', script], {
      stdout: async chunk => {
        output += new TextDecoder().decode(chunk)
        if (hasGrown || !output.includes('31 91')) return
        hasGrown = true
        sizes.push({ width: 102, height: 42 })
      },
      stderr: async () => {},
      tty: true,
      sizes,
      signal: AbortSignal.timeout(60_000),
    })
    assert.deepEqual([exitCode, output.trim().split(/\s*\n/)], [0, ['31 91', '42 102']])
  })
})
