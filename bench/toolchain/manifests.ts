import { spawn } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureComponent } from '../../tools/components/index.ts'
import type { BenchCase } from '../harness.ts'
import { builtCommand } from './built.ts'

const suite = fileURLToPath(new URL('../../interop/manifests', import.meta.url))

/** The 23 kinds of other operators in interop/manifests: CRDs written by both, over those of the round before. */
export async function manifestsCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const controllerGen = await ensureComponent('controller-gen')
  const command = await builtCommand()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const go = join(folder, 'go')
  await cp(join(suite, 'go'), go, { recursive: true })
  await rm(join(go, 'v1/shapes.go'))
  // Beside the built packages: they are what the kinds import.
  const kinds = join(command, '../../../../kinds')
  await cp(join(suite, 'kinds'), kinds, { recursive: true })
  const config = join(folder, 'project/config')
  const ours = async () => {
    await rm(join(config, 'crd'), { recursive: true, force: true })
    return await timed(
      process.execPath,
      [command, 'manifests', join(kinds, 'operators.ts'), '--out', config],
      go,
    )
  }
  const theirs = async () => {
    await rm(join(folder, 'crds'), { recursive: true, force: true })
    const options = 'crd:maxDescLen=0,generateEmbeddedObjectMeta=true,allowDangerousTypes=true'
    return await timed(controllerGen, [options, 'paths=./v1', `output:dir=${join(folder, 'crds')}`], go)
  }
  return [
    {
      name: 'manifests of 23 kinds, a process each time',
      unit: 'ms',
      measure: ours,
      reference: { name: 'controller-gen 0.23', measure: theirs },
      goal: { of: 'ratio', atMost: 0.2 },
    },
  ]
}

function timed(program: string, args: readonly string[], cwd: string): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', reject)
    child.on('exit', code =>
      code === 0 ? resolve(performance.now() - started) : reject(new Error(`${program} ended with ${code}`)),
    )
  })
}
