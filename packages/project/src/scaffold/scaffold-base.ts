import { isObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../errors.ts'
import { type Insertion, insertAtMarker } from './insert.ts'
import { scaffoldVersion } from './project-files.ts'

/** The file that keeps the scaffold as it was written. */
export const basePath = '.coxswain-scaffold.json'

/**
 * The files of a project as they were scaffolded: the base of the three-way merge of `coxswain upgrade`. Their content is kept, not only
 * a hash, because the version that wrote them cannot be asked again.
 */
export interface ScaffoldBase {
  /** The version of coxswain that scaffolded or upgraded them last. */
  readonly version: string
  readonly files: ReadonlyMap<string, string>
}

/** One line of text is one line of the file, so that it merges well. */
export function writeBase({ version, files }: ScaffoldBase): string {
  const sorted = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => [path, text.split('\n')])
  return `${JSON.stringify({ version, files: Object.fromEntries(sorted) }, undefined, 1)}\n`
}

/** Reads what {@link writeBase} wrote. Throws `BadProject`. */
export function readBase(text: string): ScaffoldBase {
  const bad = (cause?: unknown) =>
    new ProjectError(
      'BadProject',
      `${basePath}: is not what coxswain wrote; restore it from version control`,
      { cause },
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw bad(cause)
  }
  if (!isObject(value) || typeof value.version !== 'string' || !isObject(value.files)) throw bad()
  const files = new Map<string, string>()
  for (const [path, lines] of Object.entries(value.files)) {
    if (!Array.isArray(lines) || !lines.every(line => typeof line === 'string')) throw bad()
    files.set(path, lines.join('\n'))
  }
  return { version: value.version, files }
}

/** The base of a project that was just scaffolded. */
export const newBase = (files: ReadonlyMap<string, string>): ScaffoldBase => ({
  version: scaffoldVersion,
  files,
})

/** The base after files and lines were added. Files of an older scaffold stay as they are, apart from the lines. */
export function extendBase(
  base: ScaffoldBase,
  files: readonly { readonly path: string; readonly content: string | Uint8Array }[],
  insertions: readonly Insertion[],
): ScaffoldBase {
  const next = new Map(base.files)
  for (const { path, content } of files) next.set(path, String(content))
  for (const insertion of insertions) {
    const text = next.get(insertion.path)
    if (text !== undefined) next.set(insertion.path, insertAtMarker(text, insertion))
  }
  return { ...base, files: next }
}
