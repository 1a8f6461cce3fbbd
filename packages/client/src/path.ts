import type { Kind } from '@coxswain/apimachinery/kinds'
import { encodeSegment } from '@coxswain/wire'
import { ClientError } from './errors.ts'

/** The parts of a path besides the kind. */
export interface PathParts {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/** `/api/v1/namespaces/NS/pods/NAME/SUBRESOURCE`, `/apis/apps/v1/deployments`, ... */
export function resourcePath(kind: Kind, parts: PathParts): string {
  const { namespace, name, subresource } = parts
  let path = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  if (namespace) {
    if (!kind.namespaced) {
      throw new ClientError('BadKey', `${kind.kind} is cluster-scoped and has no namespace (${namespace})`)
    }
    path += `/namespaces/${segment('namespace', namespace)}`
  } else if (kind.namespaced && name !== undefined) {
    throw new ClientError('BadKey', `${kind.kind} ${name} needs a namespace`)
  }
  path += `/${kind.resource}`
  if (name !== undefined) path += `/${segment('name', name)}`
  if (subresource !== undefined)
    path += subresource
      .split('/')
      .map(part => `/${encodeSegment(part)}`)
      .join('')
  return path
}

/** Names that would change the meaning of a path are rejected here, in client-go's words. */
function segment(what: string, value: string): string {
  if (value === '') throw new ClientError('BadKey', `resource ${what} may not be empty`)
  if (value === '.' || value === '..')
    throw new ClientError('BadKey', `invalid ${what} "${value}": may not be '${value}'`)
  const bad = value.includes('/') ? '/' : value.includes('%') ? '%' : undefined
  if (bad) throw new ClientError('BadKey', `invalid ${what} "${value}": may not contain '${bad}'`)
  return encodeSegment(value)
}
