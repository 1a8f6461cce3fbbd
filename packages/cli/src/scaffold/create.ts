import type { GeneratedFile } from '@coxswain/project/files'
import {
  basePath,
  createApi,
  createWebhook,
  extendBase,
  insertAtMarker,
  pluginFiles,
  problemOfGroup,
  problemOfKind,
  problemOfVersion,
  type ResourceNames,
  type ScaffoldChange,
  writeBase,
  writeProjectFile,
} from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'
import type { CreateApiOptions, CreateWebhookOptions, ResourceOptions } from './options.ts'
import { explained, openProject, type ProjectFolder, writeProject } from './project-folder.ts'
import { askChoices, askText, isInteractive } from './prompts.ts'
import { updateManifests } from './update-manifests.ts'

export async function runCreateApi(options: CreateApiOptions): Promise<void> {
  const folder = openProject()
  const names = await askNames(folder, options)
  const { namespaced, resource, controller } = options
  const change = explained(() => createApi(folder.project, { ...names, namespaced, resource, controller }))
  await finish(folder, change, options)
  tellNext([`edit api/${names.kind.toLowerCase()}.ts and controllers/${names.kind.toLowerCase()}.ts`])
}

export async function runCreateWebhook(options: CreateWebhookOptions): Promise<void> {
  const folder = openProject()
  const names = await askNames(folder, options)
  const { defaulting, validating, conversion, spoke = [] } = options
  if (conversion !== spoke.length > 0)
    throw new CommandError('--conversion and --spoke VERSION are needed together', { exitCode: 2 })
  const asks = !defaulting && !validating && !conversion && isInteractive(options)
  const others = otherVersions(folder, names)
  const chosen = asks
    ? await askChoices<'defaulting' | 'validating' | 'conversion'>('Which webhooks?', {
        defaulting: 'defaulting',
        validating: 'validating',
        ...(others.length > 0 && { conversion: `conversion to ${others.join(', ')}` }),
      })
    : []
  const change = explained(() =>
    createWebhook(folder.project, {
      ...names,
      defaulting: defaulting || chosen.includes('defaulting'),
      validating: validating || chosen.includes('validating'),
      spokes: chosen.includes('conversion') ? others : spoke,
    }),
  )
  await finish(folder, change, options)
  const file = `${names.kind.toLowerCase()}.ts`
  const places = [
    ...(change.files.some(({ path }) => path === `webhooks/${file}`) ? [`webhooks/${file}`] : []),
    ...(change.files.some(({ path }) => path.startsWith('api/')) ? [`the conversions in api/${file}`] : []),
  ]
  tellNext([`edit ${places.join(' and ')}`])
}

function otherVersions({ project }: ProjectFolder, { group, version, kind }: ResourceNames): string[] {
  return project.resources
    .filter(each => each.group === group && each.kind === kind && each.version !== version)
    .map(each => each.version)
}

export async function runCreatePlugin(name: string): Promise<void> {
  const folder = openProject()
  const files = explained(() => pluginFiles(folder.project, name))
  refuseExisting(folder, files)
  const [plugin] = files
  const manifest = JSON.parse(folder.read('package.json') ?? '{}') as {
    bin?: object
    dependencies?: Record<string, string>
  }
  const { dependencies = {} } = manifest
  const changed = {
    ...manifest,
    bin: { ...manifest.bin, [`kubectl-${name}`]: `./${plugin!.path}` },
    dependencies: {
      ...dependencies,
      '@coxswain/client': dependencies['@coxswain/client'] ?? dependencies.coxswain ?? '*',
    },
  }
  writeProject(folder.path, [
    ...files,
    { path: 'package.json', content: `${JSON.stringify(changed, undefined, 2)}\n` },
  ])
  process.stdout.write(`\nNext:\n  npm install && npm link\n  kubectl ${name.replaceAll('_', '-')}\n`)
}

async function askNames({ project }: ProjectFolder, options: ResourceOptions): Promise<ResourceNames> {
  const group = await askText(
    {
      flag: '--group',
      given: options.group,
      message: `Group (.${project.domain} is appended)`,
      problemOf: value => problemOfGroup(value, project.domain),
    },
    options,
  )
  const version = await askText(
    {
      flag: '--version',
      given: options.version,
      message: 'Version',
      initial: 'v1',
      problemOf: problemOfVersion,
    },
    options,
  )
  const kind = await askText(
    { flag: '--kind', given: options.kind, message: 'Kind', problemOf: problemOfKind },
    options,
  )
  return { group, version, kind }
}

/** Writes new files, lines and PROJECT at once, then the manifests. */
async function finish(
  folder: ProjectFolder,
  change: ScaffoldChange,
  { make }: ResourceOptions,
): Promise<void> {
  refuseExisting(folder, change.files)
  const edited = new Map<string, string>()
  explained(() => {
    for (const insertion of change.insertions) {
      const text = edited.get(insertion.path) ?? folder.read(insertion.path) ?? ''
      edited.set(insertion.path, insertAtMarker(text, insertion))
    }
  })
  const base = explained(() => extendBase(folder.base, change.files, change.insertions))
  writeProject(folder.path, [
    ...change.files,
    ...[...edited].map(([path, content]) => ({ path, content })),
    { path: 'PROJECT', content: writeProjectFile(change.project) },
    { path: basePath, content: writeBase(base) },
  ])
  if (make) await updateManifests(folder.path)
}

function refuseExisting({ read }: ProjectFolder, files: readonly GeneratedFile[]): void {
  const present = files.find(({ path }) => read(path) !== undefined)
  if (present)
    throw new CommandError(`${present.path} exists already, and is not overwritten: move it away first`)
}

function tellNext(steps: readonly string[]): void {
  const all = [...steps, 'npm test', 'npm run manifests', 'npm run dev']
  process.stdout.write(`\nNext:\n${all.map(step => `  ${step}\n`).join('')}`)
}
