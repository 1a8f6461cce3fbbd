import { isObject, readJson } from '@coxswain/apimachinery/json'
import { applyJsonPatch } from '@coxswain/apimachinery/patch'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { encodeText } from '@coxswain/kit'
import type { PatchArguments } from '../config/kustomization.ts'
import { buildFailed, isKustomizeError } from '../errors.ts'
import { ResourceSelector } from '../filters/selector.ts'
import { isInternalAnnotation } from '../resource/annotations.ts'
import { readResources } from '../resource/read-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { printId } from '../resource/resource-id.ts'
import { documentToJson, type JsonObject, type JsonValue, jsonToNode } from '../yaml/decode.ts'
import type { GeneratorContext } from './generators.ts'
import type { Transformer } from './transformers.ts'

type Operations = readonly JsonObject[]

/** A patch of `patches`: strategic merge or JSON patch, whichever the text is. */
export function patchResources(args: PatchArguments, context: GeneratorContext): Transformer {
  const inline = (args.patch ?? '').trim()
  const path = args.path ?? ''
  if (inline === '' && path === '') throw buildFailed('must specify one of patch and path')
  if (inline !== '' && path !== '') throw buildFailed("patch and path can't be set at the same time")
  const text = inline !== '' ? inline : context.loader.loadText(path)
  const source = inline !== '' ? `[patch: ${JSON.stringify(inline)}]` : `[path: "${path}"]`
  const objects = attempt(() => readResources(text, context.schemas))
  const operations = attempt(() => readOperations(text))
  if (objects !== undefined && objects.length > 0 && operations !== undefined && operations.length > 0)
    throw buildFailed(`illegally qualifies as both an SM and JSON patch: ${source}`)
  if (objects === undefined && operations === undefined)
    throw buildFailed(`unable to parse SM or JSON patch from ${source}`)
  if (objects === undefined) return jsonTransformer(operations!, args, source)
  for (const object of objects) {
    if (args.options?.allowNameChange) object.enable('allowNameChange')
    if (args.options?.allowKindChange) object.enable('allowKindChange')
  }
  return objects.length === 0 ? () => {} : mergeTransformer(objects, args, source)
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isKustomizeError(error, 'BuildFailed')) return undefined
    throw error
  }
}

function readOperations(text: string): Operations {
  if (text === '') throw buildFailed('empty json patch operations')
  let value: unknown
  try {
    value = text.startsWith('[') ? readJson(encodeText(text)).value : (readYaml(text)?.value ?? [])
  } catch (error) {
    throw buildFailed((error as Error).message, error)
  }
  if (!Array.isArray(value) || !value.every(isObject))
    throw buildFailed('not a list of JSON patch operations')
  return value as Operations
}

function mergeTransformer(patches: readonly Resource[], args: PatchArguments, source: string): Transformer {
  return map => {
    if (args.target !== undefined) {
      if (patches.length > 1)
        throw buildFailed(
          `Multiple Strategic-Merge Patches in one \`patches\` entry is not allowed to set \`patches.target\` field: ${source}`,
        )
      map.applyPatch(new ResourceSelector(args.target).select(map.resources), patches[0]!)
      return
    }
    for (const patch of patches) {
      const id = patch.originalId
      let target: Resource
      try {
        target = map.getById(id)
      } catch (error) {
        throw buildFailed(
          `no resource matches strategic merge patch "${printId(id)}": ${(error as Error).message}`,
          error,
        )
      }
      target.applyPatch(patch)
    }
  }
}

function jsonTransformer(operations: Operations, args: PatchArguments, source: string): Transformer {
  return map => {
    if (args.target === undefined) throw buildFailed(`must specify a target for JSON patch ${source}`)
    for (const resource of new ResourceSelector(args.target).select(map.resources)) {
      resource.storePreviousId()
      applyOperations(resource, operations)
    }
  }
}

/** A patch of `patchesJson6902`. */
export function patchJson6902(
  args: { target?: PatchArguments['target']; path?: string; jsonOp?: string },
  context: GeneratorContext,
): Transformer {
  const { target, path = '', jsonOp = '' } = args
  if (target === undefined) throw buildFailed('must specify a target for a JSON patch')
  if ((target.name ?? '') === '') throw buildFailed('must specify the target name')
  if (path === '' && jsonOp === '') throw buildFailed('empty file path and empty jsonOp')
  if (path !== '' && jsonOp !== '') throw buildFailed('must specify a file path or jsonOp, not both')
  const operations = readOperations(path === '' ? jsonOp : context.loader.loadText(path))
  if (operations.length === 0) throw buildFailed(`patch appears to be empty; file=${path}`)
  return map => {
    for (const resource of new ResourceSelector(target).select(map.resources))
      applyOperations(resource, operations)
  }
}

function applyOperations(resource: Resource, operations: Operations): void {
  const kept = [...resource.annotations].filter(([key]) => isInternalAnnotation(key))
  let patched: unknown
  try {
    patched = applyJsonPatch(documentToJson(resource.node), operations as never)
  } catch (error) {
    throw buildFailed((error as Error).message, error)
  }
  if (!isObject(patched)) throw buildFailed('a JSON patch has to leave an object')
  resource.root = jsonToNode(patched as JsonValue)
  if (resource.isEmpty) return
  resource.annotations = new Map([...resource.annotations, ...kept])
}

/** The patches of `patchesStrategicMerge`: texts, or paths of files. */
export function patchStrategicMerge(
  { paths = [], patches = '' }: { paths?: readonly string[]; patches?: string },
  context: GeneratorContext,
): Transformer {
  if (paths.length === 0 && patches === '') throw buildFailed('empty file path and empty patch content')
  const loaded = paths.flatMap(
    path =>
      attempt(() => readResources(path, context.schemas)) ??
      readResources(context.loader.loadText(path), context.schemas),
  )
  if (patches !== '') for (const patch of readResources(patches, context.schemas)) loaded.push(patch)
  if (loaded.length === 0) throw buildFailed(`patch appears to be empty; files=[${paths.join(' ')}]`)
  return map => {
    for (const patch of loaded) map.applyPatch([map.getById(patch.originalId)], patch)
  }
}
