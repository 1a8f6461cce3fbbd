import { createRealEnv } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import type { Access } from './access.ts'
import { Http2Connection } from './http2-connection.ts'
import { type Server, startNginx } from './servers.ts'

/** The body of one answer. */
export async function fetchBytes(access: Access, path: string): Promise<Uint8Array> {
  const connection = await Http2Connection.open(access)
  const pieces: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    connection.send('GET', path, {
      onData: piece => pieces.push(piece),
      onEnd: error => (error ? reject(error) : resolve()),
    })
  })
  connection.close()
  return Buffer.concat(pieces)
}

/** nginx on a P-256 certificate of its own, as our server has. */
export async function startNginxBeside(body: Uint8Array): Promise<Server> {
  const now = Date.now()
  const template = {
    subject: { commonName: 'nginx' },
    usages: ['server'] as const,
    hosts: ['127.0.0.1'],
    notBefore: now - 3_600_000,
    notAfter: now + 24 * 3_600_000,
  }
  const { certificate: cert, key } = createCertificate(template, createRealEnv().random)
  return await startNginx(body, { cert, key })
}
