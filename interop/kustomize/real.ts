/** The real kustomize 5.8, and cases on disk for it. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface Answer {
  /** Undefined when it refused. */
  readonly output: string | undefined
  readonly errors: string
}

/** Writes the files to a folder of their own for as long as `use` runs. */
export function withFiles<T>(files: ReadonlyMap<string, string>, use: (folder: string) => T): T {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coxswain-kustomize-')))
  try {
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What `kustomize build FOLDER` answers. */
export function buildWithReal(program: string, folder: string): Answer {
  const { status, stdout, stderr, error } = spawnSync(program, ['build', folder], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  })
  if (error !== undefined) throw error
  return { output: status === 0 ? stdout : undefined, errors: stderr }
}
