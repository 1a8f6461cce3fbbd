import { deepClone } from '@coxswain/apimachinery/json'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import { parseDuration } from '@coxswain/apimachinery/time'
import { badConfiguration } from '../errors.ts'
import { schemas } from '../gen/configuration-schemas.ts'
import type { KubeSchedulerConfiguration, PluginConfig } from './types.ts'

const group = 'kubescheduler.config.k8s.io'
const version = `${group}/v1`
const kind = 'KubeSchedulerConfiguration'

interface Decoded {
  readonly value: Record<string, unknown>
  readonly unknown: readonly string[]
}

/**
 * Decodes a document: the right kind, no unknown fields, every field of its type. Sets only missing names.
 * @throws SchedulerError `BadConfiguration`, in the words of kube-scheduler
 */
export function decodeConfiguration(document: unknown): KubeSchedulerConfiguration {
  checkKind(document)
  const { value, unknown } = decode(schemas[kind]!, document, message => message)
  const configuration = value as KubeSchedulerConfiguration
  checkDurations(configuration)
  const problems = unknown.map(path => `unknown field ${JSON.stringify(path)}`)
  for (const [i, { pluginConfig = [] }] of (configuration.profiles ?? []).entries())
    for (const [j, entry] of pluginConfig.entries())
      for (const problem of decodeArgs(entry, `decoding .profiles[${i}].pluginConfig[${j}]: `))
        problems.push(problem)
  if (problems.length > 0) throw badConfiguration(`strict decoding error: ${problems.join(', ')}`)
  return configuration
}

function checkKind(document: unknown): void {
  const { apiVersion = '', kind: found = '' } = (document ?? {}) as { apiVersion?: string; kind?: string }
  if (apiVersion === version && found === kind) return
  const quote = JSON.stringify
  if (!found) throw badConfiguration(`Object 'Kind' is missing in ${quote(quote(document ?? null))}`)
  throw badConfiguration(
    `no kind ${quote(found)} is registered for version ${quote(apiVersion)}: ${kind} of ${version} is needed`,
  )
}

function decode(schema: Schema, source: unknown, explain: (message: string) => string): Decoded {
  const value = deepClone(source) as Record<string, unknown>
  const compiled = compileSchema(schema)
  const wrongType = compiled.decode(value)
  if (wrongType !== undefined) throw badConfiguration(explain(wrongType))
  compiled.applyDefaults(value)
  return { value, unknown: compiled.prune(value) }
}

/** Replaces raw arguments by decoded ones; returns the errors of strict decoding. */
function decodeArgs(entry: PluginConfig, place: string): string[] {
  const { name, args = {} } = entry
  const schema = schemas[`${name}Args`]
  if (!schema) return [] // an out-of-tree plug-in, which decodes its own arguments
  const explain = (message: string) => `${place}decoding args for plugin ${name}: ${message}`
  const { value, unknown } = decode(schema, args, explain)
  const { apiVersion = version, kind: found = `${name}Args` } = value as {
    apiVersion?: string
    kind?: string
  }
  if (apiVersion !== version || found !== `${name}Args`)
    throw badConfiguration(
      `${place}args for plugin ${name} were not of type ${name}Args.${group}, got ${found}.${apiVersion.split('/')[0]}`,
    )
  for (const key of ['filterTimeout', 'bindingTimeout']) checkDuration(value[key], explain)
  ;(entry as { args: unknown }).args = value
  if (unknown.length === 0) return []
  const fields = unknown.map(path => `unknown field ${JSON.stringify(path)}`).join(', ')
  const strict = 'strict decoding error: '
  return [`${place}${strict}decoding args for plugin ${name}: ${strict}${fields}`]
}

function checkDurations({ leaderElection = {}, extenders = [] }: KubeSchedulerConfiguration): void {
  const { leaseDuration, renewDeadline, retryPeriod } = leaderElection
  const durations = [leaseDuration, renewDeadline, retryPeriod, ...extenders.map(each => each.httpTimeout)]
  for (const duration of durations) checkDuration(duration)
}

function checkDuration(text: unknown, explain = (message: string): string => message): void {
  if (typeof text !== 'string') return
  try {
    parseDuration(text)
  } catch (error) {
    throw badConfiguration(explain((error as Error).message), error)
  }
}
