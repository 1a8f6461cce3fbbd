import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import { isStatusError } from '@coxswain/apimachinery/status'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { type Client, isClientError, waitFor } from '@coxswain/client'
import {
  createClientFromKubeconfig,
  createKubeconfig,
  loadKubeconfig,
  selectContext,
  writeKubeconfig,
} from '@coxswain/client/node'
import { createRealEnv, type Env } from '@coxswain/kit'
import { makeDirectories } from '@coxswain/kit/node'
import { isTransportError } from '@coxswain/wire'
import { createCertificateRequest, generateKey } from '@coxswain/wire/node'
import { CommandError, explainSystemError } from '../exit.ts'
import { readPem } from '../host/read-pem.ts'
import { explainKubeconfigError } from './kubeconfig-error.ts'

export interface KubeconfigCommandOptions {
  readonly user: string
  readonly group?: readonly string[]
  readonly duration?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly output?: string
}

type SigningRequest = KindOf<typeof CertificateSigningRequest>

const signerName = 'kubernetes.io/kube-apiserver-client'
/** How long to wait for the signer, in milliseconds. */
const patience = 30_000

/** Issues a certificate for a new key, which leaves this process only in the kubeconfig. */
export async function runKubeconfig(options: KubeconfigCommandOptions): Promise<void> {
  const { user, group: organizations = [], context, output } = options
  const env = createRealEnv()
  const path = options.kubeconfig
  if (output !== undefined) refuseExisting(output)
  try {
    const { config } = await loadKubeconfig(path === undefined ? {} : { path })
    const { cluster, clusterName } = selectContext(config, context)
    await using connected = await createClientFromKubeconfig({
      env,
      userAgent: 'coxswain-kubeconfig/0.1',
      ...(path !== undefined && { kubeconfig: path }),
      ...(context !== undefined && { context }),
    })
    const key = generateKey()
    const request = createCertificateRequest({ commonName: user, organizations }, key)
    const cert = await issue(connected.client, env, request, options)
    const ca = readPem(cluster['certificate-authority-data'], cluster['certificate-authority'])
    const made = createKubeconfig({
      cluster: clusterName,
      user,
      context: `${user}@${clusterName}`,
      server: connected.server,
      cert,
      key,
      ...(ca !== undefined && { ca }),
    })
    if (output === undefined) process.stdout.write(writeYaml(made))
    else await write(output, made)
  } catch (error) {
    if (error instanceof CommandError) throw error
    if (isClientError(error, 'BadKubeconfig')) throw explainKubeconfigError(error, path)
    if (isStatusError(error) || isClientError(error)) throw new CommandError(error.message, { cause: error })
    if (isTransportError(error))
      throw new CommandError(`the server cannot be reached: ${error.message}`, { cause: error })
    throw error
  }
}

/** Never overwrites: a kubeconfig may have the only copy of a user's key. */
function refuseExisting(file: string): void {
  if (existsSync(file))
    throw new CommandError(`--output ${file}: already exists; choose another file, or remove it`)
}

async function write(file: string, config: Parameters<typeof writeKubeconfig>[1]): Promise<void> {
  try {
    makeDirectories(dirname(resolve(file)))
    await writeKubeconfig(resolve(file), config)
  } catch (error) {
    throw new CommandError(`--output ${file}: ${explainSystemError(error)}`, { cause: error })
  }
}

/** Creates the request, approves it and waits. The request is deleted again in any case. */
async function issue(
  client: Client,
  env: Env,
  request: string,
  { user, duration }: KubeconfigCommandOptions,
): Promise<string> {
  const created = await client.create(CertificateSigningRequest, {
    metadata: { name: `coxswain-kubeconfig-${env.random.suffix(10)}` },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName,
      usages: ['client auth'],
      ...(duration !== undefined && {
        expirationSeconds: Math.floor(durationToMilliseconds(parseDuration(duration)) / 1000),
      }),
    },
  })
  const key = { name: created.metadata.name }
  try {
    await approve(client, created, user)
    const signed = await waitFor(client, env, { kind: CertificateSigningRequest, key }, isSettled, {
      timeout: patience,
    }).catch((error: unknown) => {
      if (!isClientError(error, 'WaitTimeout')) throw error
      const seconds = patience / 1000
      throw new CommandError(
        `the request was not signed within ${seconds} s; is certificatesigningrequest-signing-controller running?`,
        { cause: error },
      )
    })
    const { certificate, conditions = [] } = signed?.status ?? {}
    if (certificate) return Buffer.from(certificate, 'base64').toString('utf8')
    const reason = conditions.find(({ type }) => type === 'Failed' || type === 'Denied')?.message
    throw new CommandError(`the request was not signed: ${reason ?? 'it was deleted'}`)
  } finally {
    await client.delete(CertificateSigningRequest, key)
  }
}

async function approve(client: Client, request: SigningRequest, user: string): Promise<void> {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'CoxswainKubeconfig',
    message: `coxswain kubeconfig issues a certificate for ${user}`,
  }
  await client
    .subresource(CertificateSigningRequest, { name: request.metadata.name }, 'approval')
    .update({ ...request, status: { conditions: [condition] } })
}

/** Signed, denied, or deleted. */
function isSettled(request: SigningRequest | undefined): boolean {
  if (!request) return true
  const { certificate, conditions = [] } = request.status ?? {}
  return Boolean(certificate) || conditions.some(({ type }) => type === 'Failed' || type === 'Denied')
}
