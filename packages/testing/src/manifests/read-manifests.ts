import type { ApiObject } from '@coxswain/apimachinery/meta'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { readFiles } from '../node/read-files.ts'
import type { Manifest, Manifests } from './manifest.ts'

/** All objects of the manifests in their order; lists are the objects in them. Throws for what is not a Kubernetes object. */
export async function readSource(manifests: Manifests, place = 'manifest'): Promise<Manifest[]> {
  if (typeof manifests === 'string' && manifests.includes('\n')) return readText(manifests, place)
  if (typeof manifests === 'string' || manifests instanceof URL)
    return (await readFiles(manifests)).flatMap(({ path, text }) => readText(text, path))
  if (!Array.isArray(manifests)) return expand(manifests, place)
  const sources = (manifests as readonly Manifests[]).map((each, index) =>
    readSource(each, `${place} ${index + 1}`),
  )
  return (await Promise.all(sources)).flat()
}

function readText(text: string, place: string): Manifest[] {
  let documents: ReturnType<typeof readYamlDocuments>
  try {
    documents = readYamlDocuments(text)
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error })
  }
  return documents.flatMap(({ value, problems }, index) => {
    const where = documents.length > 1 ? `${place}, document ${index + 1}` : place
    if (problems.length > 0) throw new Error(`${where}: ${problems.join(', ')}`)
    return value === null || value === undefined ? [] : expand(value, where)
  })
}

function expand(value: unknown, place: string): Manifest[] {
  const { apiVersion, kind, items } = (value ?? {}) as Record<string, unknown>
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Error(`${place}: not a Kubernetes object: apiVersion and kind are needed`)
  if (apiVersion.startsWith('kustomize.config.k8s.io/'))
    throw new Error(`${place}: a kustomization is not an object: apply the folder that it is in`)
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((each, index) => expand(each, `${place}, item ${index + 1}`))
  const object = value as ApiObject
  if (typeof object.metadata?.name !== 'string')
    throw new Error(`${place}: ${kind}: metadata.name is needed to apply an object`)
  return [{ object, place: `${place}: ${kind} ${object.metadata.name}` }]
}
