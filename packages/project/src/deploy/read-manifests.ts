import { isObject } from '@coxswain/apimachinery/json'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { ProjectError } from '../errors.ts'
import type { Manifest } from './object-name.ts'

/** The objects of a YAML or JSON text; a List is its items. `place` is for messages. Throws `BadManifest`. */
export function readManifests(text: string, place: string): Manifest[] {
  return readDocuments(text, place).flatMap(({ value, problems }, index, { length }) => {
    const where = length > 1 ? `${place}, document ${index + 1}` : place
    if (problems.length > 0) throw new ProjectError('BadManifest', `${where}: ${problems.join(', ')}`)
    return value === null || value === undefined ? [] : toManifests(value, where)
  })
}

function readDocuments(text: string, place: string): ReturnType<typeof readYamlDocuments> {
  try {
    return readYamlDocuments(text)
  } catch (cause) {
    throw new ProjectError('BadManifest', `${place}: ${(cause as Error).message}`, { cause })
  }
}

/** The objects that a value stands for. Throws `BadManifest` for what cannot be applied. */
export function toManifests(value: unknown, place: string): Manifest[] {
  const bad = (problem: string) => new ProjectError('BadManifest', `${place}: ${problem}`)
  if (!isObject(value)) throw bad('is not a Kubernetes object')
  const { apiVersion, kind, items, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw bad('is not a Kubernetes object: apiVersion and kind are required')
  if (apiVersion.startsWith('kustomize.config.k8s.io/'))
    throw bad('is a kustomization: use -k with its folder')
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item, index) => toManifests(item, `${place}, item ${index + 1}`))
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw bad(`${kind}: metadata.name is required`)
  return [value as unknown as Manifest]
}
