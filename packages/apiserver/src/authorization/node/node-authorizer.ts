import type { UserInfo } from '@coxswain/strategies'
import { allowsPath, allowsResource, type CompiledRule, compileRule } from '@coxswain/strategies'
import type { WatchCache } from '../../cache/watch-cache.ts'
import type { ResourceRequestInfo } from '../../request/request-info.ts'
import {
  type Access,
  type AccessRules,
  type Authorizer,
  allow,
  type Decision,
  noOpinion,
} from '../authorizer.ts'
import { readBootstrapPolicy } from '../rbac/bootstrap-policy.ts'
import { requiredField } from '../selectors.ts'
import { NodeGraph, type NodeVertex } from './graph.ts'
import { nodeNameOf } from './identity.ts'

const leaseNamespace = 'kube-node-lease'

/** A rule for a resource whose access depends on the node: returns undefined to allow, otherwise why not. */
type NodeRule = (node: string, info: ResourceRequestInfo, graph: NodeGraph) => string | undefined

/**
 * Allows kubelets (`system:node:NAME` in `system:nodes`) what is related to their node: its Pods and what those refer to.
 * The admission plug-in NodeRestriction narrows writes further.
 */
export function createNodeAuthorizer({ cache }: { readonly cache: WatchCache }): Authorizer {
  let common: readonly CompiledRule[] | undefined
  let graph: NodeGraph | undefined
  const authorize = ({ user, info }: Access): Decision => {
    const node = nodeNameOf(user)
    if (node === undefined) return noOpinion
    if (node === '') return refuse(`unknown node for user ${JSON.stringify(user.name)}`)
    const rule = info.isResource ? rules[`${info.group}/${info.resource}`] : undefined
    if (rule && info.isResource) {
      if (!cache.isLoaded) return noOpinion
      graph ??= new NodeGraph(cache)
      const problem = rule(node, info, graph)
      return problem === undefined ? allow : refuse(problem)
    }
    common ??= readCommonRules()
    return common.some(candidate => allowsInfo(candidate, info)) ? allow : noOpinion
  }
  return Object.assign(authorize, { rulesFor: listRules })
}

const refuse = (reason: string): Decision => (reason === '' ? noOpinion : { verdict: 'no opinion', reason })

function listRules(user: UserInfo): AccessRules {
  const nothing = { resourceRules: [], nonResourceRules: [] }
  return nodeNameOf(user) === undefined
    ? { ...nothing, incomplete: false }
    : {
        ...nothing,
        incomplete: true,
        evaluationError: 'node authorizer does not support user rule resolution',
      }
}

/** The rules of the role `system:node`. */
function readCommonRules(): readonly CompiledRule[] {
  const role = readBootstrapPolicy().find(
    ({ kind, name }) => kind === 'ClusterRole' && name === 'system:node',
  )
  return (role?.rules ?? []).map(compileRule)
}

function allowsInfo(rule: CompiledRule, info: Access['info']): boolean {
  if (!info.isResource) return allowsPath(rule, info.verb, info.path)
  const { verb, group, resource, subresource, name } = info
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return allowsResource(rule, verb, group, combined, subresource, name)
}

function related(kind: NodeVertex): NodeRule {
  return (node, { namespace, name }, graph) => {
    if (name === '') return 'No Object name found'
    return graph.connects(node, kind, namespace, name)
      ? undefined
      : `no relationship found between node '${node}' and this object`
  }
}

function getOnly(kind: NodeVertex): NodeRule {
  return (node, info, graph) => {
    if (info.verb !== 'get') return 'can only get individual resources of this type'
    if (info.subresource !== '') return 'cannot get subresource'
    return related(kind)(node, info, graph)
  }
}

function readNamespaced(kind: NodeVertex): NodeRule {
  return (node, info, graph) => {
    if (!['get', 'list', 'watch'].includes(info.verb)) return 'can only read resources of this type'
    if (info.subresource !== '') return 'cannot read subresource'
    if (info.namespace === '') return 'can only read namespaced object of this type'
    return related(kind)(node, info, graph)
  }
}

const claims: NodeRule = (node, info, graph) => {
  if (info.subresource !== 'status') return getOnly('pvc')(node, info, graph)
  if (info.verb !== 'update' && info.verb !== 'patch') return 'can only get/update/patch this type'
  return related('pvc')(node, info, graph)
}

const serviceAccounts: NodeRule = (node, info, graph) => {
  if (info.verb === 'get' && info.subresource === '')
    return readNamespaced('serviceaccount')(node, info, graph)
  if (info.verb !== 'create' || info.name === '')
    return 'can only create tokens for individual service accounts'
  if (info.subresource !== 'token') return 'can only create token subresource of serviceaccount'
  return related('serviceaccount')(node, info, graph)
}

const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete']

/** The name of a created object is checked by admission. */
const leases: NodeRule = (node, { verb, namespace, name }) => {
  if (!ownVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a node lease'
  if (namespace !== leaseNamespace)
    return `can only access leases in the "${leaseNamespace}" system namespace`
  if (verb !== 'create' && name !== node)
    return 'can only access node lease with the same name as the requesting node'
  return undefined
}

const csiNodes: NodeRule = (node, { verb, subresource, name }) => {
  if (!ownVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode'
  if (subresource !== '') return 'cannot authorize CSINode subresources'
  if (verb !== 'create' && name !== node)
    return 'can only access CSINode with the same name as the requesting node'
  return undefined
}

const resourceSlices: NodeRule = (node, info, graph) => {
  if (info.subresource !== '') return 'cannot authorize ResourceSlice subresources'
  switch (info.verb) {
    case 'create':
      return undefined
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related('resourceslice')(node, info, graph)
    case 'watch':
    case 'list':
    case 'deletecollection':
      return requiredField(info, 'spec.nodeName') === node
        ? undefined
        : 'can only list/watch/deletecollection resourceslices with nodeName field selector'
    default:
      return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection'
  }
}

const nodes: NodeRule = (node, { verb, subresource, name }) => {
  const isWrite = verb === 'update' || verb === 'patch'
  if (subresource === 'status') return isWrite ? undefined : ''
  if (subresource !== '') return ''
  if (isWrite || verb === 'create') return undefined
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return ''
  if (name === node) return undefined
  return name === ''
    ? `node '${node}' cannot read all nodes, only its own Node object`
    : `node '${node}' cannot read '${name}', only its own Node object`
}

const pods: NodeRule = (node, info, graph) => {
  const { verb, subresource } = info
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? undefined : ''
  if (subresource === 'eviction') return verb === 'create' ? undefined : ''
  if (subresource !== '') return ''
  switch (verb) {
    case 'get':
      return getOnly('pod')(node, info, graph)
    case 'list':
    case 'watch':
      if (requiredField(info, 'spec.nodeName') === node) return undefined
      return info.name === ''
        ? 'can only list/watch pods with spec.nodeName field selector'
        : related('pod')(node, info, graph)
    case 'create':
    case 'delete':
      return undefined
    default:
      return ''
  }
}

/** By `GROUP/RESOURCE`. Access to other resources does not depend on the node. */
const rules: Readonly<Record<string, NodeRule>> = {
  '/secrets': readNamespaced('secret'),
  '/configmaps': readNamespaced('configmap'),
  '/persistentvolumeclaims': claims,
  '/persistentvolumes': getOnly('pv'),
  '/serviceaccounts': serviceAccounts,
  '/nodes': nodes,
  '/pods': pods,
  'resource.k8s.io/resourceclaims': getOnly('resourceclaim'),
  'resource.k8s.io/resourceslices': resourceSlices,
  'storage.k8s.io/volumeattachments': getOnly('volumeattachment'),
  'storage.k8s.io/csinodes': csiNodes,
  'coordination.k8s.io/leases': leases,
  'certificates.k8s.io/podcertificaterequests': () => '',
}
