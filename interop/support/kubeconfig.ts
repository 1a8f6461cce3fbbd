import { readFileSync } from 'node:fs'
import { parseKubeconfig } from '@coxswain/client/node'

/** The server and the administrator's certificate of a kubeconfig that `coxswain up` wrote. PEM. */
export function readKubeconfig(file: string): { url: string; ca: string; cert: string; key: string } {
  const config = parseKubeconfig(readFileSync(file, 'utf8'), file)
  const { server = '', 'certificate-authority-data': ca = '' } = config.clusters?.[0]?.cluster ?? {}
  const user = config.users?.[0]?.user ?? {}
  const decode = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString()
  return {
    url: server,
    ca: decode(ca),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
}
