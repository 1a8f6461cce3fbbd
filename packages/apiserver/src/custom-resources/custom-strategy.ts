import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { goPrint } from '@coxswain/apimachinery/go'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import { newForbidden } from '@coxswain/apimachinery/status'
import { isQualifiedName } from '@coxswain/apimachinery/validation'
import type { ConvertAll, Strategy } from '@coxswain/strategies'

type Findings = Generator<FieldError, void, undefined>

export interface CustomStrategyOptions {
  /** Whether the CRD is terminating. */
  readonly isTerminating: () => boolean
  /** @default versions differ only in their schemas */
  readonly convertAll?: ConvertAll | undefined
}

/** The strategy of custom resources, beyond their schema. */
export function createCustomStrategy(info: ResourceInfo, options: CustomStrategyOptions): Strategy {
  const { isTerminating, convertAll } = options
  const scaleOf = (object: JsonObject) =>
    info.versions.find(({ name }) => object.apiVersion === `${info.group}/${name}`)?.scale
  return {
    unconditionalUpdate: false,
    prepareForCreate(object) {
      if (!isTerminating()) return
      const { name = '' } = object.metadata as { name?: string }
      throw newForbidden(info, name, 'create not allowed while custom resource definition is terminating')
    },
    validate(object) {
      const scale = scaleOf(object)
      return scale ? [...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale)] : []
    },
    validateStatusUpdate(object) {
      const scale = scaleOf(object)
      return scale ? [...validateScaleStatus(object, scale)] : []
    },
    warnings: (object, old) => finalizerWarnings(object, old),
    ...(convertAll && { convertAll }),
  }
}

type ScalePaths = NonNullable<VersionInfo['scale']>

const maxInt32 = 2 ** 31 - 1

function* validateScaleSpec(object: JsonObject, scale: ScalePaths): Findings {
  yield* validateReplicas(object, scale.specReplicasPath)
}

function* validateScaleStatus(object: JsonObject, scale: ScalePaths): Findings {
  yield* validateReplicas(object, scale.statusReplicasPath)
  const path = scale.labelSelectorPath
  if (!path) return
  const found = follow(object, path)
  if ('problem' in found) yield field.invalid(field.Path.of(path), '', found.problem)
  else if (found.value !== undefined && typeof found.value !== 'string') {
    yield field.invalid(field.Path.of(path), '', accessorError(path, found.value, 'string'))
  }
}

/** Upstream's path is the whole text, including the leading dot. */
function* validateReplicas(object: JsonObject, path: string): Findings {
  const at = field.Path.of(path)
  const found = follow(object, path)
  if ('problem' in found) {
    yield field.invalid(at, 0, found.problem)
    return
  }
  const { value } = found
  if (value === undefined) return
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isInteger(value))) {
    yield field.invalid(at, 0, accessorError(path, value, 'int64'))
  } else if (value < 0) yield field.invalid(at, value, 'should be a non-negative integer')
  else if (value > maxInt32) yield field.invalid(at, value, `should be less than or equal to ${maxInt32}`)
}

/** The value at a field path; undefined when there is none, an error text when a parent is not an object. */
function follow(
  object: JsonObject,
  path: string,
): { readonly value: unknown } | { readonly problem: string } {
  const names = path.replace(/^\./, '').split('.')
  let value: unknown = object
  for (const [index, name] of names.entries()) {
    if (value === null && index > 0) return { value: undefined }
    if (!isObject(value)) {
      const at = `.${names.slice(0, index + 1).join('.')}`
      return { problem: accessorError(at, value, 'map[string]interface{}') }
    }
    if (!Object.hasOwn(value, name)) return { value: undefined }
    value = value[name]
  }
  return { value }
}

/** The messages of Go's accessors for unstructured objects. */
function accessorError(path: string, value: unknown, expected: string): string {
  return `${path} accessor error: ${goPrint(value)} is of the type ${goType(value)}, expected ${expected}`
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (value === null) return '<nil>'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64'
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** New finalizers without a domain work, but two controllers may choose the same name. */
function finalizerWarnings(object: JsonObject, old: JsonObject | undefined): string[] {
  const before = new Set(finalizersOf(old))
  const added = [...new Set(finalizersOf(object))].filter(name => !before.has(name)).sort()
  return added.flatMap(name => {
    const warningOf = (message: string) => `metadata.finalizers: ${JSON.stringify(name)}: ${message}`
    const warnings = isQualifiedName(name).map(warningOf)
    if (!name.includes('/') && !standardFinalizers.has(name)) {
      const how = name.includes('.') ? 'name including a path (/)' : 'name'
      const advice = `prefer a domain-qualified finalizer ${how} to avoid accidental conflicts with other finalizer writers`
      warnings.push(warningOf(advice))
    }
    return warnings
  })
}

function finalizersOf(object: JsonObject | undefined): readonly string[] {
  return ((object?.metadata as JsonObject | undefined)?.finalizers ?? []) as string[]
}
