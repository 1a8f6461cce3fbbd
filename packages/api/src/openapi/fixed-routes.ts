import { groupTitle, operationPrefix, operationTag } from './names.ts'
import type { Operation, PathItem } from './operation.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const encodings: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
]

function route(
  path: string,
  operation: Omit<Operation, 'method' | 'parameters' | 'responses'>,
  type: string,
): PathItem {
  return { path, operations: [{ method: 'get', parameters: [], responses: { 200: type }, ...operation }] }
}

const discovery = { consumes: encodings, produces: encodings }

/** The paths that are there whatever the resources are, by the name of their v3 document. */
export const fixedRoutes: Readonly<Record<string, PathItem>> = {
  '.well-known/openid-configuration': route(
    '/.well-known/openid-configuration/',
    { id: 'getServiceAccountIssuerOpenIDConfiguration', tag: 'WellKnown', produces: ['application/json'] },
    'string',
  ),
  api: route('/api/', { id: 'getCoreAPIVersions', tag: 'core', ...discovery }, `${meta}APIVersions`),
  apis: route('/apis/', { id: 'getAPIVersions', tag: 'apis', ...discovery }, `${meta}APIGroupList`),
  'openid/v1/jwks': route(
    '/openid/v1/jwks/',
    { id: 'getServiceAccountIssuerOpenIDKeyset', tag: 'openid', produces: ['application/jwk-set+json'] },
    'string',
  ),
  version: route(
    '/version/',
    { id: 'getCodeVersion', tag: 'version', consumes: ['application/json'], produces: ['application/json'] },
    'io.k8s.apimachinery.pkg.version.Info',
  ),
}

/** `/apis/GROUP/` */
export function groupRoute(group: string): PathItem {
  const draft = { id: `get${groupTitle(group)}APIGroup`, tag: operationTag(group), ...discovery }
  return route(`/apis/${group}/`, draft, `${meta}APIGroup`)
}

/** `/apis/GROUP/VERSION/` or `/api/v1/` */
export function versionRoute(group: string, version: string): PathItem {
  const path = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`
  const id = `get${operationPrefix(group, version)}APIResources`
  return route(path, { id, tag: operationTag(group, version), ...discovery }, `${meta}APIResourceList`)
}
