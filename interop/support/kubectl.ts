import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { execute, type Outcome, root } from './coxswain.ts'

export const kubectlVersions = ['1.20', '1.36'] as const
export type KubectlVersion = (typeof kubectlVersions)[number]

/** A real kubectl that talks to one server. */
export interface Kubectl {
  (...args: string[]): Promise<Outcome>
  /** Starts a command that goes on, and collects its lines until it is disposed of. */
  follow(...args: string[]): Following
}

export interface Following extends AsyncDisposable {
  readonly lines: readonly string[]
  /** Resolves when a line matches; rejects when none did by the end of the command, or within two minutes. */
  until(pattern: RegExp): Promise<string>
}

export function createKubectl(
  version: KubectlVersion,
  kubeconfig: string,
  variables: Record<string, string> = {},
): Kubectl {
  const file = join(root, `.cache/bin/kubectl-${version}`)
  const environment = { KUBECONFIG: kubeconfig, HOME: join(root, '.cache/home', version), ...variables }
  const run = (...args: string[]) => execute(file, args, environment)
  return Object.assign(run, { follow: (...args: string[]) => follow(file, args, environment) })
}

function follow(file: string, args: readonly string[], environment: Record<string, string>): Following {
  const child = spawn(file, args, { cwd: root, env: { ...process.env, ...environment } })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  let hasEnded = false
  const wake = () => {
    for (const look of waiting) look()
  }
  const onText = (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop()!
    lines.push(...parts)
    wake()
  }
  child.stdout.on('data', onText)
  child.stderr.on('data', onText)
  child.on('close', () => {
    hasEnded = true
    wake()
  })
  return {
    lines,
    until: pattern =>
      new Promise((resolve, reject) => {
        const finish = (found: string | undefined) => {
          clearTimeout(timer)
          waiting.delete(look)
          if (found === undefined) reject(new Error(`no line like ${pattern} in:\n${lines.join('\n')}`))
          else resolve(found)
        }
        const look = () => {
          const found = lines.find(line => pattern.test(line))
          if (found !== undefined || hasEnded) finish(found)
        }
        const timer = setTimeout(() => finish(undefined), 120_000)
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** What a command prints that has to succeed. */
export async function succeeds(outcome: Promise<Outcome>): Promise<string> {
  const { code, stdout, stderr } = await outcome
  assert.equal(code, 0, stderr)
  return stdout
}
