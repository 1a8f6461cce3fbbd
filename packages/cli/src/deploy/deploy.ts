import { basename, dirname, resolve } from 'node:path'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { writeYamlDocuments } from '@coxswain/apimachinery/yaml'
import {
  applyObjects,
  createTarget,
  type DeployTarget,
  deploy,
  formatName,
  type Manifest,
  nameOf,
  planRemoval,
  type RemovalOptions,
  remove,
  setImage,
  waitReady,
} from '@coxswain/project/deploy'
import { isProjectError } from '@coxswain/project/files'
import { writeFiles } from '@coxswain/project/node'
import { CommandError } from '../exit.ts'
import { readProject } from '../manifests/project.ts'
import { confirmLoss } from './confirm.ts'
import { type Connection, withCluster } from './connect.ts'
import { buildFolder } from './kustomization.ts'
import { readManifestFiles } from './manifest-files.ts'
import type {
  ApplyCommandOptions,
  ChangeOptions,
  DeployCommandOptions,
  InstallerCommandOptions,
  RemoveCommandOptions,
} from './options.ts'
import { printProgress } from './print-progress.ts'

const everything = 'config/default'
const definitions = 'config/crd'

export async function runDeploy(options: DeployCommandOptions): Promise<void> {
  const manifests = await projectManifests(options.image)
  if (options.dryRun === 'client') return printOnly(manifests, 'serverside-applied')
  const project = readProject(process.cwd()).name
  await withCluster(options, async connection => {
    await deploy(targetOf(connection, options), manifests, {
      ...applyOptions(connection, options),
      project,
      wait: options.wait,
    })
  })
}

export async function runUndeploy(options: RemoveCommandOptions): Promise<void> {
  const project = readProject(process.cwd()).name
  await runRemoval(await projectManifests(undefined), options, { project })
}

export async function runInstall(options: ApplyCommandOptions): Promise<void> {
  await applyAndWait(buildFolder(definitions), options)
}

export async function runUninstall(options: RemoveCommandOptions): Promise<void> {
  await runRemoval(buildFolder(definitions), options, {})
}

export async function runApply(options: ApplyCommandOptions): Promise<void> {
  const { filename = [], kustomize, recursive = false } = options
  if ((filename.length === 0) === (kustomize === undefined))
    throw new CommandError('must specify one of -f and -k', { exitCode: 2 })
  const read = async () =>
    kustomize === undefined ? readManifestFiles(filename, { recursive }) : buildFolder(kustomize)
  await applyAndWait(await oneLine(read), options)
}

export async function runBuildInstaller({ image, output }: InstallerCommandOptions): Promise<void> {
  const manifests = await projectManifests(image)
  const path = resolve(output)
  await oneLine(async () => {
    writeFiles(dirname(path), [{ path: basename(path), content: writeYamlDocuments(manifests) }])
  })
  process.stdout.write(`${output} written: ${manifests.length} objects\n`)
}

async function projectManifests(image: string | undefined): Promise<Manifest[]> {
  return await oneLine(async () => {
    const manifests = buildFolder(everything)
    return image === undefined ? manifests : setImage(manifests, image)
  })
}

/** What the user can mend is one line. */
async function oneLine<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isProjectError(error)) throw new CommandError(error.message, { cause: error })
    throw error
  }
}

async function applyAndWait(manifests: readonly Manifest[], options: ApplyCommandOptions): Promise<void> {
  if (options.dryRun === 'client') return printOnly(manifests, 'serverside-applied')
  await withCluster(options, async connection => {
    const target = targetOf(connection, options)
    const { clock } = connection.env
    const how = applyOptions(connection, options)
    const end = clock.monotonic() + how.timeout
    const applied = await applyObjects(target, manifests, how)
    if (options.wait && !how.dryRun)
      await waitReady(target, applied, () => Math.max(0, end - clock.monotonic()))
  })
}

async function runRemoval(
  manifests: readonly Manifest[],
  options: RemoveCommandOptions,
  plan: Pick<RemovalOptions, 'project'>,
): Promise<void> {
  if (options.dryRun === 'client') return printOnly(manifests, 'deleted')
  await withCluster(options, async connection => {
    const target = targetOf(connection, options)
    const removal = await planRemoval(target, manifests, { ...plan, namespace: connection.namespace })
    const dryRun = options.dryRun === 'server'
    if (!dryRun) await confirmLoss(removal.lost, options)
    if (removal.objects.length === 0) process.stdout.write('No resources found\n')
    await remove(target, removal, { timeout: millisecondsOf(options.timeout), wait: options.wait, dryRun })
  })
}

function targetOf({ client, env }: Connection, { dryRun }: ChangeOptions): DeployTarget {
  const suffix = dryRun === 'server' ? ' (server dry run)' : ''
  return createTarget({ client, env, onProgress: printProgress(process.stdout, suffix) })
}

function applyOptions({ namespace }: Connection, { dryRun, timeout, forceConflicts }: ApplyCommandOptions) {
  return { namespace, timeout: millisecondsOf(timeout), force: forceConflicts, dryRun: dryRun === 'server' }
}

function printOnly(manifests: readonly Manifest[], verb: string): void {
  for (const manifest of manifests)
    process.stdout.write(`${formatName(nameOf(manifest))} ${verb} (dry run)\n`)
}

function millisecondsOf(duration: string): number {
  return durationToMilliseconds(parseDuration(duration))
}
