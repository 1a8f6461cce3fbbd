/** The program that holds a Pod's namespaces: upstream's, in C, so that it takes as good as no memory. */
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { kubernetesSource } from './kubernetes.ts'
import { runOrFail } from './process.ts'

export async function buildPause(cache: string): Promise<string> {
  const target = join(cache, 'bin', 'pause')
  if (existsSync(target)) return target
  await mkdir(join(cache, 'bin'), { recursive: true })
  const source = join(await kubernetesSource(), 'build/pause/linux/pause.c')
  await runOrFail('cc', ['-Os', '-static', '-DVERSION=local', '-o', `${target}.partial`, source])
  await rename(`${target}.partial`, target)
  return target
}
