import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { ResourceContext } from '../request/context.ts'
import { isTrue } from '../request/request-info.ts'

const kinds: Readonly<Record<string, string>> = {
  'pods/attach': 'PodAttachOptions',
  'pods/exec': 'PodExecOptions',
  'pods/portforward': 'PodPortForwardOptions',
  'pods/proxy': 'PodProxyOptions',
  'nodes/proxy': 'NodeProxyOptions',
  'services/proxy': 'ServiceProxyOptions',
}

const booleans = ['stdin', 'stdout', 'stderr', 'tty'] as const

/** The query of a connection (`pods/exec?command=ls`) as the options object that admission sees. */
export function connectOptions({ info, query, path: { trailingSlash } }: ResourceContext): {
  readonly kind: GroupVersionKind
  readonly object: JsonObject
} {
  const kind = kinds[`${info.resource}/${info.subresource}`] ?? 'PodProxyOptions'
  const object: JsonObject = { kind, apiVersion: 'v1' }
  if (info.subresource === 'exec' || info.subresource === 'attach') {
    for (const name of booleans) if (query.has(name) && isTrue(query.get(name))) object[name] = true
    const container = query.get('container') ?? ''
    if (container !== '') object.container = container
    if (info.subresource === 'exec') object.command = query.getAll('command')
  } else if (info.subresource === 'portforward') {
    const ports = query.getAll('ports').flatMap(text => text.split(',').map(Number))
    if (ports.length > 0) object.ports = ports
  } else {
    const rest = info.rest.join('/')
    const path = `${rest === '' ? '' : '/'}${rest}${trailingSlash ? '/' : ''}`
    if (path !== '') object.path = path
  }
  return { kind: { group: '', version: 'v1', kind }, object }
}
