import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { componentPath } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { root } from '../support/coxswain.ts'

/** Whether the programs are the real ones: with `--target reference`. */
export const isReference: boolean = process.env.INTEROP_KUBECONFIG !== undefined

/** A folder for KUBEBUILDER_ASSETS: of our executable, or of real programs. */
export interface Assets extends Disposable {
  readonly path: string
}

export async function openAssets(): Promise<Assets> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-assets-'))
  const path = join(folder, 'assets')
  if (isReference) linkReal(path)
  else {
    const executable = join(folder, 'coxswain')
    await runOrFail('npm', ['run', 'build:binary', '--', executable], { cwd: root })
    await runOrFail(executable, ['assets', path])
  }
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

function linkReal(path: string): void {
  mkdirSync(path)
  const programs = {
    'kube-apiserver': 'kube-apiserver-1.36',
    etcd: 'etcd-3.6',
    kubectl: 'kubectl-1.36',
  } as const
  for (const [name, component] of Object.entries(programs)) {
    const file = componentPath(component as (typeof programs)[keyof typeof programs])
    if (!existsSync(file)) throw new Error(`${file} is missing: npm run components -- ${component}`)
    symlinkSync(file, join(path, name))
  }
  const finder = join(path, 'setup-envtest')
  writeFileSync(finder, `#!/bin/sh\nprintf %s '${path}'\n`)
  chmodSync(finder, 0o755)
}
