import {
  type AnyDefinedKind,
  conversionsOfKind,
  convertObject,
  definedKindOf,
  resourceInfoFromCrd,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
import { type ApiObject, formatGroupVersion, parseGroupVersion } from '@coxswain/apimachinery/meta'
import { readYamlDocuments, writeYamlDocuments } from '@coxswain/apimachinery/yaml'
import { describeOperator } from '@coxswain/runtime'
import { CommandError } from '../exit.ts'
import { loadConfig } from '../host/load-config.ts'
import { chooseModules, loadModules } from '../load-modules.ts'
import { readSource } from './convert.ts'

/** Options of `coxswain convert`. */
export interface ConvertCommandOptions {
  readonly to?: string
  readonly kinds?: readonly string[]
  readonly config?: string
}

/** Converts one object of a kind to another version of it. */
interface Converter {
  readonly group: string
  readonly versions: readonly string[]
  convert(object: ApiObject, version: string): ApiObject
}

/** Writes the documents of the files to standard output, objects of known kinds in the version `to`. */
export async function convertObjects(
  files: readonly string[],
  { to, kinds: named = [], config: path }: ConvertCommandOptions & { readonly to: string },
): Promise<void> {
  const sources = files.map(readSource)
  const modules = chooseModules(named, named.length > 0 ? undefined : await loadConfig(path))
  const { kinds, operators } = await loadModules(modules)
  const defined = new Set(kinds)
  for (const { controllers, webhooks } of operators.map(describeOperator)) {
    const used = [
      ...controllers.flatMap(({ sources: all }) => all.map(({ kind }) => kind)),
      ...webhooks.map(({ kind }) => kind),
    ]
    for (const kind of used.flatMap(each => definedKindOf(each) ?? [])) defined.add(kind)
  }
  const converters = new Map([...defined].map(kind => [keyOf(kind), converterOf(kind)]))
  let count = 0
  const texts = sources.map(({ file, text }) => {
    const documents = parse(file, text).map(document => {
      const converter = isApiObject(document)
        ? converters.get(`${parseGroupVersion(document.apiVersion).group}/${document.kind}`)
        : undefined
      if (!converter) return document
      count++
      return convertOne(file, document as ApiObject, { converter, to })
    })
    return documents.length === 1
      ? writeYamlDocuments(documents).slice('---\n'.length)
      : writeYamlDocuments(documents)
  })
  if (count === 0) throw new CommandError(`no object is of a kind that ${modules.join(', ')} defines`)
  process.stdout.write(texts.join(texts.length > 1 ? '---\n' : ''))
}

function convertOne(
  file: string,
  object: ApiObject,
  { converter, to }: { readonly converter: Converter; readonly to: string },
): ApiObject {
  const target = to.includes('/') ? parseGroupVersion(to) : { group: converter.group, version: to }
  const name = `${object.kind} ${object.metadata.name}`
  if (target.group !== converter.group || !converter.versions.includes(target.version))
    throw new CommandError(
      `--to ${to}: ${object.kind} has ${converter.versions.map(version => formatGroupVersion({ group: converter.group, version })).join(', ')}`,
      { exitCode: 2 },
    )
  try {
    return converter.convert(object, target.version)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`${file}: ${name} cannot be converted to ${to}: ${reason}`, { cause: error })
  }
}

/** Without conversions of its own only the apiVersion of a kind's objects changes, as on a server. */
function converterOf(kind: AnyDefinedKind): Converter {
  const { group, versions } = resourceInfoFromCrd(toCustomResourceDefinition(kind))
  const steps = conversionsOfKind(kind)
  return {
    group,
    versions: versions.map(({ name }) => name),
    convert: (object, version) => {
      const apiVersion = formatGroupVersion({ group, version })
      return steps.length === 0 ? { ...object, apiVersion } : convertObject(object, apiVersion, steps)
    },
  }
}

function keyOf(kind: AnyDefinedKind): string {
  const { group, kind: name } = resourceInfoFromCrd(toCustomResourceDefinition(kind))
  return `${group}/${name}`
}

function parse(file: string, text: string): unknown[] {
  try {
    return readYamlDocuments(text)
      .map(({ value }) => value)
      .filter(value => value !== null && value !== undefined)
  } catch (error) {
    throw new CommandError(`${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

function isApiObject(value: unknown): value is ApiObject {
  if (typeof value !== 'object' || value === null) return false
  const { apiVersion, kind, metadata } = value as Partial<ApiObject>
  return (
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null
  )
}
