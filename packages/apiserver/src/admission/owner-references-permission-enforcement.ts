import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { type OwnerReference, parseGroupVersion } from '@coxswain/apimachinery/meta'
import type { Decision } from '../authorization/authorizer.ts'
import type { RequestVerb, ResourceRequestInfo } from '../request/request-info.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'

/**
 * Changing an object's owner references requires permission to delete it; setting `blockOwnerDeletion` requires permission
 * to update the owner's finalizers. Off by default.
 */
export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: 'OwnerReferencesPermissionEnforcement',
  async validate(attributes) {
    const { operation, object, oldObject } = attributes
    if (operation !== 'CREATE' && operation !== 'UPDATE') return
    // Neither the status nor a binding can change owner references.
    const { info } = attributes.resource
    if (info.group === '' && info.resource === 'pods' && attributes.subresource === 'status') return
    const owners = ownersOf(object)
    if (deepEqual(owners, ownersOf(oldObject))) return
    if (operation === 'UPDATE') await requireDeletion(attributes)
    const wereBlocking = new Set(
      ownersOf(oldObject)
        .filter(owner => owner.blockOwnerDeletion === true)
        .map(({ uid }) => uid),
    )
    const blocking = owners.filter(
      ({ uid, blockOwnerDeletion }) => blockOwnerDeletion && !wereBlocking.has(uid),
    )
    if (blocking.length > 0) await requireFinalizers(attributes, blocking)
  },
}

function ownersOf(object: JsonObject | undefined): readonly OwnerReference[] {
  const metadata = object?.metadata as { ownerReferences?: OwnerReference[] } | undefined
  return metadata?.ownerReferences ?? []
}

async function requireDeletion(attributes: Attributes): Promise<void> {
  const { resource, version, subresource, namespace, name } = attributes
  const { group, resource: plural } = resource.info
  const {
    verdict,
    reason = '',
    error,
  } = await ask(attributes, 'delete', {
    group,
    version: version.name,
    resource: plural,
    subresource,
    namespace,
    name,
  })
  if (verdict === 'allow') return
  const why = `${reason}, ${error ?? '<nil>'}`
  throw forbidden(attributes, `cannot set an ownerRef on a resource you can't delete: ${why}`)
}

async function requireFinalizers(attributes: Attributes, owners: readonly OwnerReference[]): Promise<void> {
  const any = { group: '*', version: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' }
  if ((await ask(attributes, 'update', any)).verdict === 'allow') return
  for (const { apiVersion, kind, name } of owners) {
    const { group, version } = parseGroupVersion(apiVersion)
    const found = [...attributes.server.registry.resources()].find(
      ({ info }) => info.group === group && info.kind === kind,
    )
    if (!found) {
      const missing = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
      throw forbidden(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${missing}`,
      )
    }
    const {
      verdict,
      reason = '',
      error,
    } = await ask(attributes, 'update', {
      group,
      version,
      resource: found.info.resource,
      subresource: 'finalizers',
      namespace: found.info.namespaced ? attributes.namespace : '',
      name,
    })
    if (verdict === 'allow') continue
    const what =
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
    throw forbidden(attributes, `${what}: ${reason}, ${error ?? '<nil>'}`)
  }
}

type Asked = Pick<
  ResourceRequestInfo,
  'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'
>

async function ask({ server, user }: Attributes, verb: RequestVerb, asked: Asked): Promise<Decision> {
  const info = { isResource: true, verb, rest: [], legacyWatch: false, ...asked } as const
  return await server.authorizer({ user, info })
}
