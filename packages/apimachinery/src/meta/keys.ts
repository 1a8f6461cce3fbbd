import { MachineryError } from '../errors.ts'
import { quote } from '../go/quote.ts'
import type { ObjectKey } from './meta.ts'

/** `namespace/name`, or the name alone for a cluster-scoped object. */
export function formatKey({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name
}

/**
 * The inverse of {@link formatKey}.
 * @throws MachineryError `BadKey` when there is more than one slash
 */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/')
  if (slash < 0) return { name: key }
  if (key.indexOf('/', slash + 1) >= 0) {
    throw new MachineryError('BadKey', `unexpected key format: ${quote(key)}`)
  }
  const name = key.slice(slash + 1)
  return slash === 0 ? { name } : { namespace: key.slice(0, slash), name }
}

/** The namespace, if any, and name of an object. */
export function keyOf(object: {
  readonly metadata?: { readonly namespace?: string | undefined; readonly name?: string | undefined }
}): ObjectKey {
  const { namespace, name = '' } = object.metadata ?? {}
  return namespace ? { namespace, name } : { name }
}
