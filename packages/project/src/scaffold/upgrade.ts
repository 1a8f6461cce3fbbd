import { mergeTexts } from './merge-texts.ts'
import { scaffoldVersion } from './project-files.ts'
import type { ScaffoldBase } from './scaffold-base.ts'

/** What becomes of one file. */
export interface UpgradedFile {
  readonly path: string
  /** What is there now; undefined when there is no such file. */
  readonly before: string | undefined
  /** What it becomes; undefined: it stays as it is. */
  readonly after: string | undefined
  readonly state: 'created' | 'updated' | 'merged' | 'conflict' | 'kept' | 'obsolete'
}

/** The files of an upgrade. */
export interface UpgradeInput {
  readonly base: ScaffoldBase
  /** The files of this version's scaffold. */
  readonly pristine: ReadonlyMap<string, string>
  /** The author's file. */
  readonly read: (path: string) => string | undefined
}

/** The files that an upgrade changes, and those that it leaves alone although the scaffold changed. */
export function planUpgrade({ base, pristine, read }: UpgradeInput): UpgradedFile[] {
  const labels = { yours: 'yours', theirs: `coxswain ${scaffoldVersion}` }
  const changed = [...pristine].flatMap(([path, theirs]): UpgradedFile[] => {
    const old = base.files.get(path)
    const before = read(path)
    if (old === theirs || before === theirs) return []
    if (before === undefined)
      return old === undefined
        ? [{ path, before, after: theirs, state: 'created' }]
        : [{ path, before, after: undefined, state: 'kept' }]
    if (old === undefined) return [{ path, before, after: undefined, state: 'kept' }]
    if (before === old) return [{ path, before, after: theirs, state: 'updated' }]
    const { text, conflicts } = mergeTexts({ base: old, yours: before, theirs }, labels)
    if (text === before) return []
    return [{ path, before, after: text, state: conflicts > 0 ? 'conflict' : 'merged' }]
  })
  const obsolete = [...base.files.keys()]
    .filter(path => !pristine.has(path) && !path.startsWith('config/') && read(path) !== undefined)
    .map((path): UpgradedFile => ({ path, before: read(path), after: undefined, state: 'obsolete' }))
  return [...changed, ...obsolete]
}
