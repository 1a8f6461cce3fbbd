import {
  basePath,
  diffTexts,
  newBase,
  planUpgrade,
  pristineFiles,
  scaffoldVersion,
  type UpgradedFile,
  writeBase,
} from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'
import type { UpgradeOptions } from './options.ts'
import { explained, openProject, writeProject } from './project-folder.ts'

const texts: Readonly<Partial<Record<UpgradedFile['state'], string>>> = {
  conflict: 'has conflicts',
  kept: 'stays as you left it, although the scaffold changed',
  obsolete: 'is no longer part of the scaffold; delete it if you do not need it',
}

export async function runUpgrade({ check }: UpgradeOptions): Promise<void> {
  const folder = openProject()
  const pristine = explained(() => pristineFiles(folder.project))
  const plan = planUpgrade({ base: folder.base, pristine, read: folder.read })
  const changed = plan.flatMap(file => (file.after === undefined ? [] : [{ ...file, after: file.after }]))
  for (const { path, before = '', after } of changed) process.stdout.write(diffTexts(path, before, after))
  for (const { path, state } of plan) if (texts[state]) process.stdout.write(`${path} ${texts[state]}\n`)
  if (changed.length === 0 && folder.base.version === scaffoldVersion)
    return void process.stdout.write(`the project is up to date with coxswain ${scaffoldVersion}\n`)
  if (check)
    throw new CommandError(
      `the scaffold is that of coxswain ${folder.base.version}; run: npx coxswain upgrade`,
    )
  const config = [...folder.base.files].filter(([path]) => path.startsWith('config/'))
  writeProject(folder.path, [
    ...changed.map(({ path, after }) => ({ path, content: after })),
    { path: basePath, content: writeBase(newBase(new Map([...pristine, ...config]))) },
  ])
  const conflicts = changed.filter(({ state }) => state === 'conflict')
  if (conflicts.length > 0)
    throw new CommandError(
      `resolve the conflicts in ${conflicts.map(({ path }) => path).join(', ')}: they are marked with <<<<<<< and >>>>>>>`,
    )
  process.stdout.write('\nNext:\n  npm install\n  npm test\n  npm run manifests\n')
}
