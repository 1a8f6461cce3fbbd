import { insertAtMarker } from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'
import type { EditOptions } from './options.ts'
import { explained, openProject, writeProject } from './project-folder.ts'

const path = 'coxswain.config.ts'
const present = /^[ \t]*namespaces: \[.*\],?\n/m

export async function runEdit({ namespaces, clusterWide }: EditOptions): Promise<void> {
  if ((namespaces === undefined) === !clusterWide)
    throw new CommandError('name one of --namespaces and --cluster-wide', { exitCode: 2 })
  const folder = openProject()
  const text = folder.read(path)
  if (text === undefined) throw new CommandError(`there is no ${path} here`)
  const without = text.replace(present, '')
  const names = (namespaces ?? []).map(name => `'${name}'`).join(', ')
  const content = explained(() =>
    clusterWide
      ? without
      : insertAtMarker(without, { path, marker: 'settings', lines: [`namespaces: [${names}],`] }),
  )
  if (content === text) return void process.stdout.write(`${path} is up to date\n`)
  writeProject(folder.path, [{ path, content }])
  process.stdout.write('\nNext:\n  npm run manifests\n')
}
