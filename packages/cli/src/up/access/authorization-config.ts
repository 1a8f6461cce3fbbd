import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { AuthorizerFactory } from '@coxswain/apiserver'
import {
  compileMatchConditions,
  createWebhookAuthorizer,
  type MatchConditions,
} from '@coxswain/apiserver/authorization'
import { CommandError } from '../../exit.ts'
import { authorizationModes } from '../options/authorization-options.ts'
import { readFlagFile } from '../options/flag-file.ts'
import { defaultTtls, milliseconds, secondsAtMost } from './authorization-webhook.ts'
import { createAuthorizer } from './authorizers.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

interface AuthorizerConfiguration {
  readonly type?: string
  readonly name?: string
  readonly webhook?: WebhookConfiguration
}

interface WebhookConfiguration {
  readonly authorizedTTL?: string
  readonly cacheAuthorizedRequests?: boolean
  readonly unauthorizedTTL?: string
  readonly cacheUnauthorizedRequests?: boolean
  readonly timeout?: string
  readonly subjectAccessReviewVersion?: string
  readonly matchConditionSubjectAccessReviewVersion?: string
  readonly failurePolicy?: string
  readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string }
  readonly matchConditions?: readonly { readonly expression?: string }[]
}

type FieldError = ReturnType<typeof field.required>

const flag = 'authorization-config'
const versions = ['v1', 'v1beta1', 'v1alpha1'].map(version => `apiserver.config.k8s.io/${version}`)

/** The types of the authorizers in an AuthorizationConfiguration file. */
export function readConfiguredTypes(file: string): string[] {
  return readFlagFile(flag, file, readConfiguration).map(({ type = '' }) => type)
}

/** The authorizers of an AuthorizationConfiguration file, in its order. */
export async function createConfiguredAuthorizers(file: string): Promise<AuthorizerFactory[]> {
  const configurations = readFlagFile(flag, file, readConfiguration)
  const authorizers: AuthorizerFactory[] = []
  for (const { type = '', webhook } of configurations)
    authorizers.push(webhook ? createConfiguredWebhook(webhook) : await createAuthorizer(type, {}))
  return authorizers
}

function createConfiguredWebhook(webhook: WebhookConfiguration): AuthorizerFactory {
  const { cacheAuthorizedRequests = true, cacheUnauthorizedRequests = true } = webhook
  const { kubeConfigFile = '', type } = webhook.connectionInfo ?? {}
  if (type === 'InClusterConfig')
    throw new CommandError(
      `--${flag}: connectionInfo of type InClusterConfig is not supported outside a cluster`,
    )
  const server = readWebhookKubeconfig(flag, kubeConfigFile)
  const matchConditions = compileConditions(webhook)
  return createWebhookAuthorizer({
    ...server,
    version: webhook.subjectAccessReviewVersion as 'v1' | 'v1beta1',
    timeout: milliseconds(webhook.timeout ?? ''),
    authorizedTtl: cacheAuthorizedRequests ? milliseconds(webhook.authorizedTTL ?? '') : 0,
    unauthorizedTtl: cacheUnauthorizedRequests ? milliseconds(webhook.unauthorizedTTL ?? '') : 0,
    failurePolicy: webhook.failurePolicy as 'NoOpinion' | 'Deny',
    ...(matchConditions && { matchConditions }),
  })
}

function compileConditions({ matchConditions = [] }: WebhookConfiguration): MatchConditions | undefined {
  if (matchConditions.length === 0) return undefined
  const compiled = compileMatchConditions(matchConditions.map(({ expression = '' }) => expression))
  return compiled.ok ? compiled.matches : undefined
}

/** Throws with all problems, in upstream's words. */
export function readConfiguration(text: string): readonly AuthorizerConfiguration[] {
  const value = (readYaml(text)?.value ?? {}) as Readonly<Record<string, unknown>>
  if (value.kind !== 'AuthorizationConfiguration' || !versions.includes(String(value.apiVersion)))
    throw new Error(
      `failed to load AuthorizationConfiguration from file: no kind ${JSON.stringify(value.kind ?? '')} is registered for version ${JSON.stringify(value.apiVersion ?? '')}`,
    )
  const authorizers = (value.authorizers ?? []) as AuthorizerConfiguration[]
  const configurations = authorizers.map(one =>
    one.webhook ? { ...one, webhook: { ...defaultTtls, ...one.webhook } } : one,
  )
  const errors = [...validateConfiguration(configurations)].map(error => `${error.field}: ${error.body}`)
  const problems = errors.length > 0 ? errors : [...validateNames(configurations)]
  if (problems.length === 0) return configurations
  throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
}

/** Only webhooks have names of their own. */
function* validateNames(configurations: readonly AuthorizerConfiguration[]): Generator<string> {
  for (const { type = '', name } of configurations) {
    const expected = type.toLowerCase()
    if (type !== 'Webhook' && name !== expected)
      yield `expected name ${expected} for authorizer ${type} instead of ${name}`
  }
}

function* validateConfiguration(configurations: readonly AuthorizerConfiguration[]): Generator<FieldError> {
  const root = field.Path.of('authorizers')
  if (configurations.length === 0)
    yield field.required(root, 'at least one authorization mode must be defined')
  const types = new Set<string>()
  const names = new Set<string>()
  for (const [index, { type = '', name = '', webhook }] of configurations.entries()) {
    const path = root.index(index)
    if (type === '') {
      yield field.required(path.child('type'))
      continue
    }
    if (!(authorizationModes as readonly string[]).includes(type)) {
      yield field.notSupported(path.child('type'), type, [...authorizationModes].sort())
      continue
    }
    if (types.has(type) && type !== 'Webhook') {
      yield field.duplicate(path.child('type'), type)
      continue
    }
    types.add(type)
    if (name === '') yield field.required(path.child('name'))
    else if (names.has(name)) yield field.duplicate(path.child('name'), name)
    else if (isDNS1123Subdomain(name).length > 0)
      yield field.invalid(
        path.child('name'),
        name,
        `authorizer name is invalid: ${isDNS1123Subdomain(name).join(', ')}`,
      )
    names.add(name)
    if (type === 'Webhook' && !webhook)
      yield field.required(path.child('webhook'), 'required when type=Webhook')
    if (type === 'Webhook' && webhook) yield* validateWebhook(webhook, path)
    if (type !== 'Webhook' && webhook)
      yield field.invalid(path.child('webhook'), 'non-null', 'may only be specified when type=Webhook')
  }
}

function* validateWebhook(webhook: WebhookConfiguration, path: field.Path): Generator<FieldError> {
  yield* validateDuration(webhook.timeout, path.child('timeout'), secondsAtMost * 1000)
  yield* validateDuration(webhook.authorizedTTL, path.child('authorizedTTL'))
  yield* validateDuration(webhook.unauthorizedTTL, path.child('unauthorizedTTL'))
  yield* validateChoice(webhook.subjectAccessReviewVersion, path.child('subjectAccessReviewVersion'), [
    'v1',
    'v1beta1',
  ])
  const conditionVersion = webhook.matchConditionSubjectAccessReviewVersion ?? ''
  const conditionPath = path.child('matchConditionSubjectAccessReviewVersion')
  if (conditionVersion !== '') yield* validateChoice(conditionVersion, conditionPath, ['v1'])
  else if (webhook.matchConditions?.length)
    yield field.required(conditionPath, 'required if match conditions are specified')
  yield* validateChoice(webhook.failurePolicy, path.child('failurePolicy'), ['NoOpinion', 'Deny'])
  yield* validateConnection(webhook.connectionInfo ?? {}, path.child('connectionInfo'))
  yield* validateConditions(webhook.matchConditions ?? [], path.child('matchConditions'))
}

function* validateChoice(
  value: string | undefined,
  path: field.Path,
  choices: string[],
): Generator<FieldError> {
  if (!value) yield field.required(path)
  else if (!choices.includes(value)) yield field.notSupported(path, value, choices)
}

function* validateDuration(
  text: string | undefined,
  path: field.Path,
  most = Infinity,
): Generator<FieldError> {
  let value: number
  try {
    value = milliseconds(text ?? '0')
  } catch (error) {
    yield field.invalid(path, text, (error as Error).message)
    return
  }
  if (value === 0) yield field.required(path)
  else if (value < 0 || value > most)
    yield field.invalid(
      path,
      text,
      most === Infinity ? 'must be > 0s' : `must be > 0s and <= ${most / 1000}s`,
    )
}

function* validateConnection(
  { type, kubeConfigFile = '' }: NonNullable<WebhookConfiguration['connectionInfo']>,
  path: field.Path,
): Generator<FieldError> {
  yield* validateChoice(type, path.child('type'), ['InClusterConfig', 'KubeConfigFile'])
  const at = path.child('kubeConfigFile')
  if (type === 'InClusterConfig' && kubeConfigFile !== '')
    yield field.invalid(at, kubeConfigFile, 'can only be set when type=KubeConfigFile')
  if (type !== 'KubeConfigFile') return
  if (kubeConfigFile === '') yield field.required(at)
  else if (!isAbsolute(kubeConfigFile)) yield field.invalid(at, kubeConfigFile, 'must be an absolute path')
  else if (!statSync(kubeConfigFile, { throwIfNoEntry: false })?.isFile())
    yield field.invalid(at, kubeConfigFile, 'must be a regular file')
}

const conditionsAtMost = 64

function* validateConditions(
  conditions: readonly { readonly expression?: string }[],
  path: field.Path,
): Generator<FieldError> {
  if (conditions.length > conditionsAtMost) {
    yield field.tooMany(path, conditions.length, conditionsAtMost)
    return
  }
  const seen = new Set<string>()
  for (const [index, { expression = '' }] of conditions.entries()) {
    const at = path.index(index).child('expression')
    if (expression.trim() === '') yield field.required(at)
    else if (seen.has(expression)) yield field.duplicate(at, expression)
    else {
      const compiled = compileMatchConditions([expression])
      if (!compiled.ok) yield field.invalid(at, expression, compiled.error)
    }
    seen.add(expression)
  }
}
