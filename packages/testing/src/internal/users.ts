import type { PeerCertificate } from '@coxswain/wire'

/** A user by name, with groups besides `system:authenticated`, or a service account as `namespace/name`. */
export type ClusterUser =
  | string
  | { readonly name: string; readonly groups?: readonly string[] }
  | { readonly serviceAccount: string }

export const administrator: PeerCertificate = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** The certificate with which a user connects. */
export function peerOf(user: ClusterUser): PeerCertificate {
  if (typeof user === 'string') return peerOf({ name: user })
  if ('name' in user) return { ...administrator, commonName: user.name, organizations: user.groups ?? [] }
  const [namespace, name, ...rest] = user.serviceAccount.split('/')
  if (!namespace || !name || rest.length > 0)
    throw new Error(
      `serviceAccount: ${JSON.stringify(user.serviceAccount)} is not of the form namespace/name`,
    )
  return {
    ...administrator,
    commonName: `system:serviceaccount:${namespace}:${name}`,
    organizations: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  }
}

/** The service account of an operator under the rights of its project. */
export function operatorUser({ name }: { readonly name: string }): ClusterUser {
  return { serviceAccount: `${name}-system/${name}-controller-manager` }
}
