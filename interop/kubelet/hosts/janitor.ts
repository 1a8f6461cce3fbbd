import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('janitor.sh', import.meta.url))

/** Removes what it remembers when it is disposed of, and also when this process ends in any other way. */
export interface Janitor extends AsyncDisposable {
  remember(kind: 'process' | 'cgroup' | 'folder', what: string | number): void
}

/** Everything is removed by a process of its own that outlives this one: there is one way to clean up, SIGKILL included. */
export function startJanitor(): Janitor {
  const child = spawn('/bin/sh', [script], { detached: true, stdio: ['pipe', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    complaints += chunk
  })
  const ended = once(child, 'close')
  return {
    remember(kind, what) {
      child.stdin.write(`${kind} ${what}\n`)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const [code] = await ended
      if (code !== 0) throw new Error(`not everything could be removed:\n${complaints}`)
    },
  }
}
