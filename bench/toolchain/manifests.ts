import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureComponent } from '../../tools/components/index.ts'
import type { BenchCase } from '../harness.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const suite = fileURLToPath(new URL('../../interop/manifests', import.meta.url))

/** The CRDs of the 65 kinds of interop/manifests, written by both into an empty folder. */
export async function manifestsCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const controllerGen = await ensureComponent('controller-gen')
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  let round = 0
  const ours = () => {
    const kinds = ['shapes', 'operators'].map(name => join(suite, 'kinds', `${name}.ts`))
    return timed(process.execPath, [
      command,
      'manifests',
      ...kinds,
      '--out',
      join(folder, `ours-${round++}`, 'config'),
    ])
  }
  const theirs = () => {
    const options = 'crd:maxDescLen=0,generateEmbeddedObjectMeta=true,allowDangerousTypes=true'
    return timed(controllerGen, [options, 'paths=./v1', `output:dir=${join(folder, `theirs-${round++}`)}`])
  }
  return [
    {
      name: 'manifests of 65 kinds, a process each time',
      unit: 'ms',
      measure: ours,
      reference: { name: 'controller-gen 0.23', measure: theirs },
      goal: { of: 'ratio', atMost: 0.2 },
    },
  ]
}

function timed(program: string, args: readonly string[]): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: join(suite, 'go'), stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', reject)
    child.on('exit', code =>
      code === 0 ? resolve(performance.now() - started) : reject(new Error(`${program} ended with ${code}`)),
    )
  })
}
