import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isProjectError } from '@coxswain/project/files'
import { generatedHeader, generateManifests, type Manifests } from '@coxswain/project/manifests'
import { compareFiles, writeFiles } from '@coxswain/project/node'
import { basePath, readBase, type ScaffoldBase, writeBase } from '@coxswain/project/scaffold'
import { isRuntimeError } from '@coxswain/runtime'
import type { ClusterFlags } from '../definitions/cluster-definitions.ts'
import { CommandError } from '../exit.ts'
import { loadConfig } from '../host/load-config.ts'
import { readCalls } from '../load-lock.ts'
import { chooseModules, loadModules } from '../load-modules.ts'
import { readProject } from './project.ts'

/** Options of `coxswain manifests`. */
export interface ManifestsCommandOptions extends ClusterFlags {
  readonly out: string
  readonly check: boolean
  readonly checkCompat?: string
  readonly config?: string
  readonly image?: string
  readonly maxDescLen?: number
  readonly featureGates?: readonly string[]
  readonly certManager: boolean
  readonly refresh: boolean
}

/** Writes the manifests, or compares them. */
export async function runManifests(
  files: readonly string[],
  options: ManifestsCommandOptions,
): Promise<void> {
  const config = await loadConfig(options.config)
  const chosen = chooseModules(files, config)
  const { operators, kinds } = await loadModules(chosen)
  const out = resolve(options.out)
  const root = dirname(out)
  const namesOperators = config !== undefined && files.length === 0
  const manifests = generate(() =>
    generateManifests({
      operators,
      kinds,
      folder: basename(out),
      calls: readCalls(root),
      ...(options.featureGates && { featureGates: options.featureGates }),
      ...(options.maxDescLen !== undefined && { maxDescriptionLength: options.maxDescLen }),
      project: {
        ...readProject(root),
        ...(options.image !== undefined && { image: options.image }),
        ...(options.certManager && { certificates: 'cert-manager' as const }),
        ...(config?.config.namespaces && { namespaces: config.config.namespaces }),
        ...(!namesOperators && {
          operatorFiles: chosen.map(file => portable(relative(root, resolve(file)))),
        }),
      },
    }),
  )
  if (options.checkCompat !== undefined) {
    const { checkCompat, definitionsOf } = await import('./check-compat.ts')
    await checkCompat(definitionsOf(manifests.generated), options.checkCompat, options)
  }
  if (options.check) check(root, manifests, rerun(files, options))
  else write(root, manifests, options.refresh ? scaffoldOf(root) : undefined)
}

/** How the files of the author were when they were made. */
function scaffoldOf(root: string): ScaffoldBase {
  const path = join(root, basePath)
  if (!existsSync(path))
    throw new CommandError(`--refresh: there is no ${basePath} here: restore it from version control`)
  return generate(() => readBase(readFileSync(path, 'utf8')))
}

function portable(path: string): string {
  return path.split(sep).join('/')
}

/** What an author can mend is one line. */
function generate<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (isProjectError(error) || isRuntimeError(error, 'BadDefinition'))
      throw new CommandError(error.message, { cause: error })
    throw error
  }
}

/** With a scaffold, the files of the author that are still as they were made are made again. */
function write(root: string, { generated, owned }: Manifests, scaffold?: ScaffoldBase): void {
  const made = owned.filter(({ path }) => {
    const present = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined
    return present === undefined || present === scaffold?.files.get(path)
  })
  const changed = new Map(compareFiles(root, [...generated, ...made]).map(({ path, state }) => [path, state]))
  const remove = findObsolete(
    root,
    generated.map(({ path }) => path),
  )
  try {
    writeFiles(
      root,
      [
        ...[...generated, ...made].filter(({ path }) => changed.has(path)),
        ...(scaffold ? [{ path: basePath, content: extendScaffold(scaffold, made) }] : []),
      ],
      { remove },
    )
  } catch (error) {
    if (isProjectError(error)) throw new CommandError(error.message, { cause: error })
    throw error
  }
  const lines = [
    ...[...changed].map(([path, state]) => `${path} ${state === 'missing' ? 'created' : 'updated'}`),
    ...remove.map(path => `${path} removed`),
  ]
  process.stdout.write(lines.map(line => `${line}\n`).join(''))
  const total = generated.length + owned.length
  process.stdout.write(
    lines.length === 0 ? `${total} files are up to date\n` : `${lines.length} of ${total} files changed\n`,
  )
  warnOfOmissions(root, owned)
}

function extendScaffold(scaffold: ScaffoldBase, made: Manifests['owned']): string {
  const files = made.map(({ path, content }) => [path, String(content)] as const)
  return writeBase({ ...scaffold, files: new Map([...scaffold.files, ...files]) })
}

function check(root: string, { generated, owned }: Manifests, command: string): void {
  const missing = owned.filter(({ path }) => !existsSync(join(root, path)))
  const stale = [
    ...compareFiles(root, [...generated, ...missing]).map(({ path, state }) => `${path} is ${state}`),
    ...findObsolete(
      root,
      generated.map(({ path }) => path),
    ).map(path => `${path} is no longer generated`),
  ]
  if (stale.length === 0) return void process.stdout.write(`${generated.length} files are up to date\n`)
  for (const line of stale) process.stderr.write(`${line}\n`)
  throw new CommandError(`manifests are stale; run: ${command}`)
}

/** Files that earlier runs generated and this one does not. */
function findObsolete(root: string, generated: readonly string[]): string[] {
  const [first = 'config/'] = generated
  const folder = first.slice(0, first.indexOf('/'))
  const current = new Set(generated)
  const found: string[] = []
  for (const part of [
    'crd',
    'crd/bases',
    'crd/patches',
    'rbac',
    'namespaces',
    'webhook',
    'certmanager',
    'manager',
  ]) {
    const path = join(root, folder, part)
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) continue
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const file = `${folder}/${part}/${entry.name}`
      if (!entry.isFile() || !/\.ya?ml$/.test(entry.name) || current.has(file)) continue
      if (readFileSync(join(root, file), 'utf8').startsWith(generatedHeader)) found.push(file)
    }
  }
  return found
}

/** A kustomization of the author that lacks a folder would leave it out silently. */
function warnOfOmissions(root: string, owned: Manifests['owned']): void {
  const wanted = owned.find(({ path }) => path.endsWith('/default/kustomization.yaml'))
  if (!wanted || !existsSync(join(root, wanted.path))) return
  const present = readFileSync(join(root, wanted.path), 'utf8')
  for (const [, folder] of String(wanted.content).matchAll(/^- (\.\.\/\w+)$/gm)) {
    if (!present.includes(folder!))
      process.stderr.write(`coxswain: ${wanted.path} does not list ${folder}: add it to its resources\n`)
  }
}

function rerun(
  files: readonly string[],
  { out, maxDescLen, featureGates, certManager, config }: ManifestsCommandOptions,
): string {
  return [
    'npx coxswain manifests',
    ...files,
    ...(out === 'config' ? [] : ['--out', out]),
    ...(maxDescLen === undefined ? [] : ['--max-desc-len', String(maxDescLen)]),
    ...(featureGates?.length ? ['--feature-gates', featureGates.map(name => `${name}=true`).join(',')] : []),
    ...(certManager ? ['--cert-manager'] : []),
    ...(config === undefined ? [] : ['--config', config]),
  ].join(' ')
}
