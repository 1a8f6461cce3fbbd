import { ProjectError } from '../errors.ts'

/** The name of an image in a registry. */
export interface ImageReference {
  /** `docker.io`, `registry.example.com:5000`. */
  readonly registry: string
  /** `library/node`. */
  readonly repository: string
  readonly tag?: string
  readonly digest?: string
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const repositoryPattern = new RegExp(`^${component}(?:/${component})*$`)
const hostPattern = /^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::\d{1,5})?$/
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/

/** The longest name that is read. Registries take up to 255 characters of repository. */
const longest = 512

export const isDigest = (text: string): boolean => digestPattern.test(text)

/**
 * Reads `[HOST/]REPOSITORY[:TAG][@DIGEST]` as docker does: without a host it is of Docker Hub, without a tag or digest the tag is `latest`.
 * Throws `BadReference`.
 */
export function parseReference(text: string): ImageReference {
  const bad = (why: string) =>
    new ProjectError(
      'BadReference',
      `${JSON.stringify(text.slice(0, longest))} is not the name of an image: ${why}, for example registry.example.com/team/greeter:1.0`,
    )
  if (text.length > longest) throw bad(`it has more than ${longest} characters`)
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  if (digest !== undefined && !isDigest(digest)) throw bad('the digest is not sha256: and 64 hex digits')
  const named = at < 0 ? text : text.slice(0, at)
  const colon = named.lastIndexOf(':')
  const tag = colon > named.lastIndexOf('/') ? named.slice(colon + 1) : undefined
  if (tag !== undefined && !tagPattern.test(tag))
    throw bad('the tag has other characters than letters, digits, _ . -')
  const path = tag === undefined ? named : named.slice(0, colon)
  const { registry, repository } = splitHost(path)
  if (!hostPattern.test(registry)) throw bad('the host is not valid')
  if (repository.length > 255 || !repositoryPattern.test(repository))
    throw bad('the repository is not in lower case letters, digits, and . _ - / between them')
  const wanted = tag ?? (digest === undefined ? 'latest' : undefined)
  return {
    registry,
    repository,
    ...(wanted !== undefined && { tag: wanted }),
    ...(digest !== undefined && { digest }),
  }
}

function splitHost(path: string): { readonly registry: string; readonly repository: string } {
  const slash = path.indexOf('/')
  const first = slash < 0 ? '' : path.slice(0, slash)
  if (first === 'localhost' || /[.:]/.test(first) || /[A-Z]/.test(first)) {
    const registry = first === 'index.docker.io' ? 'docker.io' : first
    return hub(registry, path.slice(slash + 1))
  }
  return hub('docker.io', path)
}

const hub = (registry: string, repository: string) => ({
  registry,
  repository: registry === 'docker.io' && !repository.includes('/') ? `library/${repository}` : repository,
})

/** The whole name: `docker.io/library/node:26-slim`. */
export function formatReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`
}
