import { createKubeconfig, writeKubeconfig } from '@coxswain/client/kubeconfig'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import type { ApiServerDefinition } from '../define-api-server.ts'
import { type ServeApiServerOptions, type ServedApiServer, serveApiServer } from './serve.ts'

/** Options of {@link serveAlone}. */
export interface ServeAloneOptions extends Omit<ServeApiServerOptions, 'cluster' | 'tls'> {
  /** Where the kubeconfig of an administrator is written. */
  readonly kubeconfig: string
}

/** Valid as long as the process is likely to run: the CA and its certificates are made anew at each start. */
const validity = 365 * 24 * 3_600_000

/** Serves a definition by itself, with certificates of its own and a kubeconfig for its administrator. */
export async function serveAlone(
  definition: ApiServerDefinition,
  { kubeconfig, ...options }: ServeAloneOptions,
): Promise<ServedApiServer & { readonly kubeconfig: string }> {
  const { clock, random } = options.env ?? createRealEnv()
  const { host = '127.0.0.1' } = options
  const period = { notBefore: clock.now() - 60_000, notAfter: clock.now() + validity }
  const ca = createCertificate({ subject: { commonName: 'coxswain-ca' }, usages: ['ca'], ...period }, random)
  const hosts = [...new Set([host, 'localhost', '127.0.0.1'])]
  const server = createCertificate(
    { subject: { commonName: host }, usages: ['server'], hosts, ...period },
    random,
    ca,
  )
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] }
  const admin = createCertificate({ subject, usages: ['client'], ...period }, random, ca)
  const served = await serveApiServer(definition, {
    ...options,
    tls: { cert: server.certificate, key: server.key, clientCa: ca.certificate },
  })
  const entry = { cluster: 'coxswain', user: 'admin', server: served.url, ca: ca.certificate }
  await writeKubeconfig(kubeconfig, createKubeconfig({ ...entry, cert: admin.certificate, key: admin.key }))
  return { ...served, kubeconfig }
}
