import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
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
  /** Resolves when a line matches; rejects after ten seconds. */
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
  const onText = (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop()!
    lines.push(...parts)
    for (const wake of waiting) wake()
  }
  child.stdout.on('data', onText)
  child.stderr.on('data', onText)
  return {
    lines,
    until: pattern =>
      new Promise((resolve, reject) => {
        const timer = globalThis.setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`no line like ${pattern} in:\n${lines.join('\n')}`))
        }, 10_000)
        const look = () => {
          const found = lines.find(line => pattern.test(line))
          if (found === undefined) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(found)
        }
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

/** Runs a command again and again until what it prints matches, for twenty seconds at most; returns that. */
export async function eventually(command: () => Promise<Outcome>, pattern: RegExp): Promise<string> {
  let last = ''
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const { stdout, stderr } = await command()
    last = stdout + stderr
    if (pattern.test(last)) return last
    await setTimeout(50)
  }
  assert.match(last, pattern)
  return last
}
