import type { JsonObject } from '@coxswain/apimachinery/json'
import { maxOf } from '@coxswain/kit'
import { memberOf } from './member.ts'
import { mapStrings, type TemplateText } from './template-text.ts'

/** What the objects are called, and what in them a release renames. */
export interface ChartNames {
  /** Of the chart, and the label `app.kubernetes.io/name`. */
  readonly project: string
  /** Before the names of objects, `PROJECT-`. */
  readonly prefix: string
  /** Names of objects that begin with the prefix. */
  readonly names: readonly string[]
  readonly namespace: string | undefined
  readonly serviceAccount: string | undefined
  /** What a release adds to its name; the longest one. */
  readonly longestSuffix: number
}

export const nameOf = (object: JsonObject): string => String(memberOf(object, 'metadata').name ?? '')

export function findNames(project: string, objects: readonly JsonObject[]): ChartNames {
  const prefix = `${project}-`
  const isDefinition = (object: JsonObject) =>
    object.kind === 'CustomResourceDefinition' || object.kind === 'Namespace'
  const names = objects
    .filter(object => !isDefinition(object))
    .map(nameOf)
    .filter(name => name.startsWith(prefix))
  const namespaces = objects.map(object =>
    object.kind === 'Namespace' ? nameOf(object) : memberOf(object, 'metadata').namespace,
  )
  return {
    project,
    prefix,
    names: [...new Set(names)].sort((a, b) => b.length - a.length),
    namespace: namespaces.find((each): each is string => typeof each === 'string' && each !== ''),
    serviceAccount: objects.filter(object => object.kind === 'ServiceAccount').map(nameOf)[0],
    longestSuffix: maxOf([0, ...names.map(name => name.length - prefix.length)]) + 1,
  }
}

/** The object with names and namespace as a release has them. Schemas of definitions hold no names. */
export function renameObject(object: JsonObject, names: ChartNames, template: TemplateText): JsonObject {
  const words = [...names.names, ...(names.namespace === undefined ? [] : [names.namespace])]
  if (words.length === 0) return object
  const pattern = new RegExp(`(?<![\\w.-])(?:${words.map(escapePattern).join('|')})(?![\\w-])`, 'g')
  const prefixArgument = new RegExp(`=${escapePattern(names.prefix)}$`)
  const rename = (text: string) =>
    text
      .replace(prefixArgument, () => `=${template.expression(`include "${names.project}.fullname" .`)}-`)
      .replaceAll(pattern, word => template.expression(expressionOf(word, names)))
  if (object.kind !== 'CustomResourceDefinition') return mapStrings(object, rename) as JsonObject
  const { conversion, ...spec } = memberOf(object, 'spec')
  const converted = conversion === undefined ? {} : { conversion: mapStrings(conversion, rename) }
  return { ...object, spec: { ...spec, ...converted } } as JsonObject
}

function expressionOf(word: string, { project, prefix, namespace, serviceAccount }: ChartNames): string {
  if (word === namespace) return '.Release.Namespace'
  if (word === serviceAccount) return `include "${project}.serviceAccountName" .`
  return `include "${project}.resourceName" (dict "suffix" ${JSON.stringify(word.slice(prefix.length))} "context" .)`
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
