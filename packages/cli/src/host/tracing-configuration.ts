import * as field from '@coxswain/apimachinery/field'
import { isObject } from '@coxswain/apimachinery/json'
import { readYaml } from '@coxswain/apimachinery/yaml'

/** What a TracingConfiguration says. */
export interface TracingConfiguration {
  /** `host:port` of a collector that takes OTLP over gRPC. */
  readonly endpoint: string
  /** Of a million traces that begin here, so many are sampled. */
  readonly samplingRatePerMillion: number
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map(version => `apiserver.config.k8s.io/${version}`)
const schemes = ['dns', 'unix', 'unix-abstract']
const most = 1_000_000
const fields = new Set(['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'])

/** Throws with everything that is wrong, in upstream's words. */
export function readTracingConfiguration(text: string): TracingConfiguration {
  const value = readYaml(text)?.value ?? {}
  const { apiVersion = '', kind = '', endpoint, samplingRatePerMillion } = isObject(value) ? value : {}
  if (kind !== 'TracingConfiguration' || !versions.includes(String(apiVersion)))
    throw new Error(
      `unable to decode tracing configuration data: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    )
  const unknown = Object.keys(value).filter(name => !fields.has(name))
  if (unknown.length > 0)
    throw new Error(
      `unable to decode tracing configuration data: strict decoding error: ${unknown.map(name => `unknown field ${JSON.stringify(name)}`).join(', ')}`,
    )
  const errors = [...validateRate(samplingRatePerMillion ?? 0), ...validateEndpoint(endpoint ?? '')]
  if (errors.length > 0) {
    const texts = errors.map(error => `${error.field}: ${error.body}`)
    const shown = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
    throw new Error(`failed to validate tracing configuration: ${shown}`)
  }
  return {
    endpoint: endpoint === undefined || endpoint === null ? 'localhost:4317' : String(endpoint),
    samplingRatePerMillion: Number(samplingRatePerMillion ?? 0),
  }
}

type FieldError = ReturnType<typeof field.invalid>

function* validateRate(rate: unknown): Generator<FieldError> {
  const path = field.Path.of('samplingRatePerMillion')
  if (!Number.isInteger(rate)) yield field.invalid(path, rate, 'must be a whole number')
  else if (Number(rate) < 0) yield field.invalid(path, rate, 'sampling rate must be positive')
  else if (Number(rate) > most)
    yield field.invalid(path, rate, 'sampling rate per million must be less than or equal to one million')
}

function* validateEndpoint(endpoint: unknown): Generator<FieldError> {
  const path = field.Path.of('endpoint')
  if (typeof endpoint !== 'string') return yield field.invalid(path, endpoint, 'must be a string')
  const [, scheme = 'dns'] = /^([^/]*?):?\/\//.exec(endpoint) ?? []
  if (!schemes.includes(scheme))
    yield field.invalid(
      path,
      endpoint,
      `unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
    )
}

/** The address as exporters of JavaScript write it: without TLS, as kube-apiserver sends traces. */
export function exporterUrl(endpoint: string): string {
  if (endpoint.startsWith('unix')) return endpoint
  const [, authority = '', path = ''] = /^dns:\/\/([^/]*)\/?(.*)$/.exec(endpoint) ?? ['', '', endpoint]
  return `http://${path === '' ? authority : path}`
}
