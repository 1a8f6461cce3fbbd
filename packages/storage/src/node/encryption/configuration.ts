import { Buffer } from 'node:buffer'
import type { Env } from '@coxswain/kit'
import { Kms } from './kms.ts'
import { createAesCbc, createAesGcm, createSecretbox, identity, type Transformer } from './transformer.ts'

/** A provider for values, and the prefix of values it has written. */
export interface Provider {
  readonly prefix: string
  readonly transformer: Transformer
}

/** The providers for some resources: the first one writes, all of them read. */
export interface ResourceEncryption {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*`. */
  readonly resources: readonly string[]
  readonly providers: readonly Provider[]
}

/** A parsed EncryptionConfiguration. */
export interface Encryption {
  readonly entries: readonly ResourceEncryption[]
  /** The KMS plug-ins it uses. */
  readonly plugins: readonly Kms[]
}

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const keyed: Readonly<
  Record<string, { make: (secret: Uint8Array) => Transformer; sizes: readonly number[] }>
> = {
  aescbc: { make: createAesCbc, sizes: [16, 24, 32] },
  aesgcm: { make: createAesGcm, sizes: [16, 24, 32] },
  secretbox: { make: createSecretbox, sizes: [32] },
}

/** Parses the content of the file. Throws an Error that says what is wrong and where, never with a key in it. */
export function readEncryption(value: unknown, env: Env): Encryption {
  if (!isObject(value) || value.kind !== 'EncryptionConfiguration')
    throw new Error('kind: this is not an EncryptionConfiguration')
  if (value.apiVersion !== 'apiserver.config.k8s.io/v1')
    throw new Error(`apiVersion: ${JSON.stringify(value.apiVersion)} is not apiserver.config.k8s.io/v1`)
  if (!Array.isArray(value.resources) || value.resources.length === 0)
    throw new Error('resources: at least one entry is required')
  const plugins: Kms[] = []
  const entries = value.resources.map((entry, index) => readEntry(entry, `resources[${index}]`, env, plugins))
  return { entries, plugins }
}

function readEntry(entry: unknown, path: string, env: Env, plugins: Kms[]): ResourceEncryption {
  if (!isObject(entry)) throw new Error(`${path}: not an object`)
  const { resources, providers } = entry
  if (!Array.isArray(resources) || resources.length === 0 || resources.some(name => typeof name !== 'string'))
    throw new Error(`${path}.resources: a list of names is needed`)
  if (!Array.isArray(providers) || providers.length === 0)
    throw new Error(`${path}.providers: at least one is needed; identity leaves values as they are`)
  return {
    resources,
    providers: providers.flatMap((provider, index) =>
      readProvider(provider, `${path}.providers[${index}]`, env, plugins),
    ),
  }
}

function readProvider(provider: unknown, path: string, env: Env, plugins: Kms[]): Provider[] {
  const names = isObject(provider) ? Object.keys(provider) : []
  if (names.length !== 1)
    throw new Error(`${path}: exactly one of identity, aescbc, aesgcm, secretbox, kms is needed`)
  const name = names[0]!
  const settings = (provider as Json)[name]
  if (name === 'identity') return [{ prefix: '', transformer: identity }]
  if (name === 'kms') return [readKms(settings, `${path}.kms`, env, plugins)]
  const kind = keyed[name]
  if (!kind) throw new Error(`${path}: unknown provider ${name}`)
  const keys = isObject(settings) && Array.isArray(settings.keys) ? settings.keys : []
  if (keys.length === 0) throw new Error(`${path}.${name}.keys: at least one is needed`)
  return keys.map((key: unknown, index) => {
    const place = `${path}.${name}.keys[${index}]`
    if (!isObject(key) || typeof key.name !== 'string' || key.name === '' || typeof key.secret !== 'string')
      throw new Error(`${place}: a name and a secret are required`)
    const secret = Buffer.from(key.secret, 'base64')
    if (secret.toString('base64').replace(/=+$/, '') !== key.secret.replace(/=+$/, ''))
      throw new Error(`${place}.secret: this is no base64`)
    if (!kind.sizes.includes(secret.length))
      throw new Error(
        `${place}.secret: ${secret.length} bytes; a key of ${name} has ${kind.sizes.join(', ')}`,
      )
    return { prefix: `k8s:enc:${name}:v1:${key.name}:`, transformer: kind.make(secret) }
  })
}

function readKms(settings: unknown, path: string, env: Env, plugins: Kms[]): Provider {
  if (!isObject(settings)) throw new Error(`${path}: not an object`)
  const { apiVersion = 'v1', name, endpoint, timeout } = settings
  if (apiVersion !== 'v2') throw new Error(`${path}.apiVersion: must be v2; Kubernetes has removed v1`)
  if (typeof name !== 'string' || !/^[A-Za-z0-9._-]+$/.test(name))
    throw new Error(`${path}.name: a name is needed`)
  if (typeof endpoint !== 'string' || !endpoint.startsWith('unix:///'))
    throw new Error(`${path}.endpoint: ${JSON.stringify(endpoint)} is not of the form unix:///path`)
  const seconds = typeof timeout === 'string' ? /^(\d+)s$/.exec(timeout) : undefined
  if (timeout !== undefined && !seconds) throw new Error(`${path}.timeout: seconds like 3s are needed`)
  const plugin = new Kms({ name, endpoint, env, ...(seconds && { timeout: Number(seconds[1]) * 1_000 }) })
  plugins.push(plugin)
  return { prefix: `k8s:enc:kms:v2:${name}:`, transformer: plugin }
}
