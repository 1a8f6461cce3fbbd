import { ConfigMap } from '@coxswain/api/core/v1'
import type { RequestHeaderOptions } from '@coxswain/apiserver/authentication'
import { createIssuerCheck } from '@coxswain/apiserver/node'
import type { Client } from '@coxswain/client'

/** How front proxies of a cluster are recognized, and the CAs that the TLS listener needs for them. */
export interface RequestHeaders {
  readonly requestHeader: RequestHeaderOptions
  /** PEM: the CAs of front proxies and of clients. */
  readonly clientCa: string
}

const key = { namespace: 'kube-system', name: 'extension-apiserver-authentication' }

/**
 * Reads the ConfigMap `extension-apiserver-authentication`, in which a cluster tells extension API servers what to trust. Throws an Error when
 * it is missing, or has no CA of front proxies.
 */
export async function readRequestHeaders(client: Pick<Client, 'get'>): Promise<RequestHeaders> {
  const map = await client.get(ConfigMap, key)
  const data = map?.data ?? {}
  const proxyCa = data['requestheader-client-ca-file']
  if (!proxyCa)
    throw new Error(
      `the ConfigMap ${key.namespace}/${key.name} ${map ? 'has no requestheader-client-ca-file' : 'does not exist'}: start the cluster with a CA of front proxies`,
    )
  const clientCa = data['client-ca-file'] ?? ''
  const isClient = clientCa === '' ? () => false : createIssuerCheck(clientCa)
  const names = (member: string) => readNames(data[member])
  const headers = (member: string) => names(member).map(name => name.toLowerCase())
  return {
    requestHeader: {
      isProxy: createIssuerCheck(proxyCa),
      isClient,
      allowedNames: names('requestheader-allowed-names'),
      usernameHeaders: headers('requestheader-username-headers'),
      uidHeaders: headers('requestheader-uid-headers'),
      groupHeaders: headers('requestheader-group-headers'),
      extraHeaderPrefixes: headers('requestheader-extra-headers-prefix'),
    },
    clientCa: [proxyCa, clientCa].join('\n'),
  }
}

/** A JSON list of names; empty when it is missing. */
function readNames(text: string | undefined): string[] {
  const value: unknown = text ? JSON.parse(text) : []
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}
