import { ProjectError } from '../errors.ts'
import type { GeneratedFile } from '../files/generated-file.ts'
import { controllerParts, fileOf, kindParts, type ScaffoldParts, versionParts } from './api-files.ts'
import { insertAtMarker } from './insert.ts'
import { checkResourceNames, type ResourceNames } from './names.ts'
import type { ProjectFile, ProjectResource, ProjectWebhooks } from './project-file.ts'
import { extension, projectFiles } from './project-files.ts'
import { conversionParts, webhookParts } from './webhook-files.ts'

/** A change of a project: its new PROJECT, and what is added to the files. */
export interface ScaffoldChange extends ScaffoldParts {
  readonly project: ProjectFile
}

/** What `create api` is asked for. */
export interface CreateApi extends ResourceNames {
  readonly namespaced: boolean
  /** Whether to add the kind, or another version of it. */
  readonly resource: boolean
  readonly controller: boolean
}

/** What `create webhook` is asked for. */
export interface CreateWebhook extends ResourceNames {
  readonly defaulting: boolean
  readonly validating: boolean
  /** The versions that are converted. */
  readonly spokes: readonly string[]
}

/** Adds a kind, another version of one, or a controller. Throws `BadName` or `Exists`. */
export function createApi(project: ProjectFile, asked: CreateApi): ScaffoldChange {
  const { group, version, kind, namespaced, controller } = asked
  checkResourceNames(asked, project.domain)
  const clash = project.resources.find(
    each => fileOf(each.kind) === fileOf(kind) && (each.kind !== kind || each.group !== group),
  )
  if (clash)
    throw new ProjectError(
      'Exists',
      `${clash.path} is the file of ${clash.group}/${clash.kind}: choose another kind`,
    )
  const others = project.resources.filter(each => each.group === group && each.kind === kind)
  const same = others.find(each => each.version === version)
  if (asked.resource && same)
    throw new ProjectError('Exists', `API resource ${group}/${version}, kind ${kind} already exists`)
  if (!asked.resource && !same)
    throw new ProjectError(
      'BadName',
      `there is no ${group}/${version}, kind ${kind}: create it with --resource`,
    )
  const hasController = others.some(each => each.controller)
  if (controller && same && hasController)
    throw new ProjectError('Exists', `${kind} has a controller already`)
  const addsController = controller && !hasController
  const resource: ProjectResource = {
    ...(same ?? { api: { crdVersion: 'v1', namespaced: others[0]?.api?.namespaced ?? namespaced } }),
    domain: project.domain,
    group,
    kind,
    path: `api/${fileOf(kind)}${extension}`,
    version,
    ...(addsController && { controller: true }),
  }
  const parts = [
    ...(same ? [] : [others.length === 0 ? kindParts(resource) : versionParts(resource)]),
    ...(addsController ? [controllerParts(resource)] : []),
  ]
  return { project: replaceResource(project, resource), ...joinParts(parts) }
}

/** Adds webhooks to a kind, or conversions to one that has webhooks. Throws `BadName` or `Exists`. */
export function createWebhook(project: ProjectFile, asked: CreateWebhook): ScaffoldChange {
  const { group, version, kind, defaulting, validating, spokes } = asked
  checkResourceNames(asked, project.domain)
  const versions = project.resources.filter(each => each.group === group && each.kind === kind)
  const found = versions.find(each => each.version === version)
  if (!found)
    throw new ProjectError(
      'BadName',
      `there is no ${group}/${version}, kind ${kind}: run coxswain create api first`,
    )
  const isConversionOnly = !defaulting && !validating && spokes.length > 0
  const addsConversion = isConversionOnly && found.webhooks !== undefined && !found.webhooks.conversion
  if (!addsConversion && versions.some(each => each.webhooks))
    throw new ProjectError(
      'Exists',
      `${kind} has webhooks already: edit webhooks/${fileOf(kind)}${extension}`,
    )
  for (const spoke of spokes)
    if (spoke === version || !versions.some(each => each.version === spoke))
      throw new ProjectError(
        'BadName',
        `--spoke ${spoke}: is not another version of ${kind}; run coxswain create api --version ${spoke} first`,
      )
  if (!defaulting && !validating && spokes.length === 0)
    throw new ProjectError(
      'BadName',
      'name at least one of --defaulting, --validating and --conversion with --spoke',
    )
  const webhooks: ProjectWebhooks = {
    ...found.webhooks,
    ...(defaulting && { defaulting }),
    ...(validating && { validation: true }),
    ...(spokes.length > 0 && { conversion: true, spoke: spokes }),
    webhookVersion: 'v1',
  }
  const resource = { ...found, webhooks }
  const parts = [
    ...(addsConversion ? [] : [webhookParts(resource)]),
    ...(spokes.length > 0 ? [conversionParts(resource)] : []),
  ]
  return { project: replaceResource(project, resource), ...joinParts(parts) }
}

/** Every file of a project as it is scaffolded, without edits of the author. */
export function pristineFiles(project: ProjectFile): Map<string, string> {
  const files = new Map<string, string>()
  const add = ({ files: more, insertions }: ScaffoldParts) => {
    for (const { path, content } of more) files.set(path, String(content))
    for (const each of insertions) files.set(each.path, insertAtMarker(files.get(each.path) ?? '', each))
  }
  add({ files: projectFiles(project), insertions: [] })
  for (const [index, resource] of project.resources.entries()) {
    const isFirst = !project.resources.slice(0, index).some(each => each.path === resource.path)
    add(isFirst ? kindParts(resource) : versionParts(resource))
    if (resource.controller) add(controllerParts(resource))
    if (resource.webhooks) add(webhookParts(resource))
    if (resource.webhooks?.conversion) add(conversionParts(resource))
  }
  return files
}

function replaceResource(project: ProjectFile, resource: ProjectResource): ProjectFile {
  const isSame = (each: ProjectResource) =>
    each.group === resource.group && each.kind === resource.kind && each.version === resource.version
  const { resources } = project
  return {
    ...project,
    resources: resources.some(isSame)
      ? resources.map(each => (isSame(each) ? resource : each))
      : [...resources, resource],
  }
}

function joinParts(parts: readonly ScaffoldParts[]): ScaffoldParts {
  return {
    files: parts.flatMap(({ files }): readonly GeneratedFile[] => files),
    insertions: parts.flatMap(({ insertions }) => insertions),
  }
}
