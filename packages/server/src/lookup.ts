import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, formatGroupVersion } from '@coxswain/apimachinery/meta'
import { type OwnServer, objectKey } from '@coxswain/apiserver'
import type { ObjectLookup } from './resource.ts'

/** Reads objects of the server from its memory. */
export function createLookup({ registry }: Pick<OwnServer, 'registry'>): ObjectLookup {
  const find = <K extends Kind>(kind: K) => {
    const resource = registry.findResource(kind.group, kind.resource)
    if (!resource) throw new Error(`${kind.kind} of ${kind.group || 'the core group'} is not served here`)
    const apiVersion = formatGroupVersion(kind)
    const { convert } = resource.strategy
    return {
      resource,
      read: (stored: { parse(): object }): DeepReadonly<KindOf<K>> => {
        const object = stored.parse() as Parameters<NonNullable<typeof convert>>[0]
        const isAsAsked = object.apiVersion === apiVersion || !convert
        return (isAsAsked ? object : convert(object, apiVersion)) as DeepReadonly<KindOf<K>>
      },
    }
  }
  return {
    get(kind, { namespace = '', name }) {
      const { resource, read } = find(kind)
      const stored = resource.cache.get(objectKey(resource, namespace, name))
      return stored && read(stored)
    },
    list(kind, { namespace } = {}) {
      const { resource, read } = find(kind)
      const { prefix } = resource.cache
      return resource.cache.list(namespace ? `${prefix}${namespace}/` : prefix).map(stored => read(stored))
    },
  }
}
