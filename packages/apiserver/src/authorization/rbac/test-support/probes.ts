import { encodeText, type Random } from '@coxswain/kit'
import type { ModelBinding, ModelPolicy, ModelRule, ModelSubject, ModelUser } from './model.ts'

/** Similar words, so that a careless comparison shows. */
const words = {
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'post', '*'],
  groups: ['', 'apps', 'example.com', '*'],
  resources: [
    'pods',
    'pods/log',
    'pods/logs',
    'pod',
    '*/log',
    '*/scale',
    'deployments',
    'deployments/scale',
    'namespaces',
    '*',
  ],
  names: ['a', 'ab', 'abc', 'A', 'a%62', 'a b', 'a/b', 'é'],
  namespaces: ['one', 'two', 'One'],
  users: [
    'jane',
    'jan',
    'Jane',
    'system:serviceaccount:one:bot',
    'system:serviceaccount:two:bot',
    'system:serviceaccount:one:bo',
  ],
  userGroups: ['devs', 'Devs', 'dev', 'system:serviceaccounts', 'ops'],
  paths: ['/metrics', '/metrics/*', '/met*', '/logs', '/logs/*', '*', '/healthz', '/metrics/a', '/Metrics'],
} as const

const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const

export interface Probe {
  readonly user: ModelUser
  readonly method: string
  readonly path: string
  readonly query: string
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.below(items.length)]!
}

function some<T>(random: Random, items: readonly T[], most = 3): T[] {
  return Array.from({ length: 1 + random.below(most) }, () => pick(random, items))
}

export function randomUser(random: Random): ModelUser {
  const name = pick(random, words.users)
  return { name, groups: random.below(3) === 0 ? [] : some(random, words.userGroups, 2) }
}

export function randomRules(random: Random, isCluster: boolean): ModelRule[] {
  return Array.from({ length: random.below(6) }, () => {
    const verbs = some(random, words.verbs, 5)
    if (isCluster && random.below(4) === 0) return { verbs, nonResourceURLs: some(random, words.paths, 2) }
    const rule = { verbs, apiGroups: some(random, words.groups), resources: some(random, words.resources) }
    return random.below(3) === 0 ? { ...rule, resourceNames: some(random, words.names, 2) } : rule
  })
}

export function randomBinding(random: Random, isCluster: boolean): ModelBinding {
  const kind = isCluster || random.below(2) === 0 ? 'ClusterRole' : 'Role'
  const subjects = Array.from({ length: 1 + random.below(3) }, (): ModelSubject => {
    const what = random.below(4)
    if (what === 0) return { kind: 'User', name: pick(random, words.users) }
    if (what === 3) {
      const name = pick(random, ['bot', 'bo'])
      const namespace = pick(random, ['one', 'two'])
      return !isCluster && random.below(2) === 0
        ? { kind: 'ServiceAccount', name }
        : { kind: 'ServiceAccount', name, namespace }
    }
    return { kind: 'Group', name: pick(random, words.userGroups) }
  })
  return { roleRef: { kind, name: `r${random.below(6)}` }, subjects }
}

/** Few distinct names, so that roles come and go under existing bindings. */
export function randomChange(random: Random, policy: ModelPolicy): PolicyChange {
  const kind = pick(random, ['clusterRoles', 'roles', 'clusterRoleBindings', 'roleBindings'] as const)
  const isRole = kind === 'clusterRoles' || kind === 'roles'
  const isCluster = kind === 'clusterRoles' || kind === 'clusterRoleBindings'
  const name = isRole ? `r${random.below(6)}` : `b${random.below(14)}`
  const key = isCluster ? name : `${pick(random, ['one', 'two'])}/${name}`
  if (policy[kind].has(key) && random.below(6) === 0) return { kind, key, value: undefined }
  // The role of a binding cannot change.
  if (!isRole && policy[kind].has(key)) {
    const { roleRef } = policy[kind].get(key) as ModelBinding
    return { kind, key, value: { ...randomBinding(random, isCluster), roleRef } }
  }
  return { kind, key, value: isRole ? randomRules(random, isCluster) : randomBinding(random, isCluster) }
}

export interface PolicyChange {
  readonly kind: keyof ModelPolicy
  readonly key: string
  /** Undefined for a deletion. */
  readonly value: readonly ModelRule[] | ModelBinding | undefined
}

export function randomProbe(random: Random): Probe {
  const user = randomUser(random)
  const method = pick(random, methods)
  const { segments, query } = random.below(5) === 0 ? randomPath(random) : randomResource(random)
  let path = segments.map(segment => `/${writeSegment(random, segment)}`).join('')
  if (random.below(30) === 0) path += '/'
  if (random.below(60) === 0) path = `/${path}`
  if (random.below(100) === 0) path += '/%zz'
  return { user, method, path, query }
}

function randomPath(random: Random): { segments: string[]; query: string } {
  const path = pick(random, [
    'metrics',
    'metrics/a',
    'metrics/a/b',
    'logs',
    'logs/..',
    'healthz',
    'Metrics',
    'met',
    'a/metrics',
  ])
  return { segments: path.split('/'), query: '' }
}

function randomResource(random: Random): { segments: string[]; query: string } {
  const group = pick(random, ['', 'apps', 'example.com', 'APPS'])
  const segments = group === '' ? ['api', 'v1'] : ['apis', group, 'v1']
  if (random.below(20) === 0) segments.push('watch')
  if (random.below(3) > 0) segments.push('namespaces', pick(random, words.namespaces))
  const resource = pick(random, ['pods', 'pod', 'deployments', 'namespaces', 'Pods'])
  if (random.below(12) > 0) segments.push(resource)
  if (random.below(3) > 0) {
    segments.push(pick(random, words.names))
    if (random.below(2) === 0) segments.push(pick(random, ['log', 'logs', 'scale', 'status', 'Log']))
    if (random.below(12) === 0) segments.push('more')
  }
  const query = [
    random.below(5) === 0 ? `watch=${pick(random, ['true', '1', 'false', '0'])}` : '',
    random.below(5) === 0
      ? `fieldSelector=${encodeURIComponent(`metadata.name${pick(random, ['=', '==', '!='])}${pick(random, ['a', 'ab', 'abc'])}`)}`
      : '',
  ].filter(part => part !== '')
  return { segments, query: query.join('&') }
}

/** The same segment in one of its encodings; reserved characters are always escaped. */
function writeSegment(random: Random, segment: string): string {
  const plain = encodeURIComponent(segment)
  if (random.below(8) > 0) return plain
  return Array.from(encodeText(segment), byte => {
    const hex = byte.toString(16).padStart(2, '0')
    const isPlain = /[A-Za-z0-9.-]/.test(String.fromCharCode(byte)) && random.below(2) === 0
    if (isPlain) return String.fromCharCode(byte)
    return `%${random.below(2) === 0 ? hex.toUpperCase() : hex}`
  }).join('')
}
