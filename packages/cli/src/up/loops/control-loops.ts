import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import {
  type ControllerManagerOptions,
  createLocalCloud,
  createControllerManager as createManager,
} from '@coxswain/controllers'
import type { Env } from '@coxswain/kit'
import type { Operator } from '@coxswain/runtime'
import { type KeyPair, readCertificate } from '@coxswain/wire/node'
import { createCertificateIssuer } from './certificate-issuer.ts'

/** What the controllers need. */
export interface ManagerOptions
  extends Pick<ControllerManagerOptions, 'controllers' | 'nodeRanges' | 'rootCa' | 'signToken'> {
  readonly env: Env
  /** The cloud that owns machines, routes and load balancers. @default none */
  readonly cloudProvider?: 'local' | 'none'
  /** The folder for what the local-path provisioner makes. */
  readonly volumes: string
  /** Signs client certificates. */
  readonly ca: KeyPair
}

/** All of the controllers with what this machine provides for them. */
export function createControllerManager({
  env,
  ca,
  cloudProvider,
  volumes,
  ...rest
}: ManagerOptions): Operator {
  return createManager({
    ...rest,
    ...(cloudProvider === 'local' && { cloud: createLocalCloud }),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
    certificates: createCertificateIssuer(ca, env),
    certificateCleaner: { expiresAt: pem => readCertificate(pem).notAfter },
    localPath: { root: volumes, remove: path => rm(path, { recursive: true, force: true }) },
  })
}
