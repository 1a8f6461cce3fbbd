import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../../errors.ts'

/** What a registry accepts from a user. */
export type RegistryCredentials =
  | { readonly type: 'password'; readonly username: string; readonly password: string }
  /** A token of the registry's authorization service that is exchanged for others. */
  | { readonly type: 'identityToken'; readonly token: string }

type Environment = Readonly<Record<string, string | undefined>>

/** Longest output and run of a credential helper. */
const helperLimits = { output: 256 * 1024, milliseconds: 60_000 }

/**
 * The credentials of a registry as docker and podman find them: `$REGISTRY_AUTH_FILE`, `$DOCKER_CONFIG/config.json` or `~/.docker/config.json`, with
 * `credHelpers`, `credsStore` and `auths`. Undefined when there are none. Throws `RegistryDenied` when a file or a helper fails.
 */
export async function findCredentials(
  registry: string,
  environment: Environment,
): Promise<RegistryCredentials | undefined> {
  const file = configFile(environment)
  const config = file === undefined ? undefined : readConfig(file)
  if (file === undefined || config === undefined) return undefined
  const keys =
    registry === 'docker.io'
      ? ['https://index.docker.io/v1/', 'index.docker.io', 'docker.io']
      : [registry, `https://${registry}`]
  const helpers = isObject(config.credHelpers) ? config.credHelpers : {}
  const named = keys.find(key => Object.hasOwn(helpers, key))
  const helper = named === undefined ? config.credsStore : helpers[named]
  if (typeof helper === 'string' && helper !== '') {
    const found = await askHelper(helper, named ?? keys[0]!, environment)
    if (found !== undefined) return found
  }
  return readAuths(config, keys, file)
}

function configFile(environment: Environment): string | undefined {
  const { REGISTRY_AUTH_FILE: file, DOCKER_CONFIG: folder, HOME: home } = environment
  if (file) return file
  if (folder) return join(folder, 'config.json')
  return home ? join(home, '.docker/config.json') : undefined
}

function readConfig(file: string): JsonObject | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ProjectError('RegistryDenied', `${file} cannot be read: ${message}`, { cause })
  }
  try {
    const config: unknown = JSON.parse(text)
    if (isObject(config)) return config
  } catch {
    // The parser's message would show a part of the file.
  }
  throw new ProjectError('RegistryDenied', `${file} is not a JSON object`)
}

/** Keys may have a scheme and a path: `https://registry.example.com/v1/`. */
function readAuths(
  config: JsonObject,
  keys: readonly string[],
  file: string,
): RegistryCredentials | undefined {
  const auths = isObject(config.auths) ? config.auths : {}
  const hosts = new Set(keys.map(hostOf))
  const key =
    keys.find(each => Object.hasOwn(auths, each)) ?? Object.keys(auths).find(each => hosts.has(hostOf(each)))
  const entry = key === undefined ? undefined : auths[key]
  if (!isObject(entry)) return undefined
  const { auth, username, password, identitytoken } = entry
  if (typeof identitytoken === 'string' && identitytoken !== '')
    return { type: 'identityToken', token: identitytoken }
  if (typeof username === 'string' && typeof password === 'string')
    return { type: 'password', username, password }
  if (typeof auth !== 'string' || auth === '') return undefined
  const decoded = Buffer.from(auth, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon < 1)
    throw new ProjectError('RegistryDenied', `${file}: auth of ${key} is not base64 of USER:PASSWORD`)
  return {
    type: 'password',
    username: decoded.slice(0, colon),
    password: decoded.slice(colon + 1).replace(/\0+$/, ''),
  }
}

const hostOf = (key: string) => key.replace(/^https?:\/\//, '').split('/', 1)[0]!

/** Runs `docker-credential-NAME get`. Undefined when it says that it has none. */
async function askHelper(
  name: string,
  server: string,
  environment: Environment,
): Promise<RegistryCredentials | undefined> {
  const program = `docker-credential-${name}`
  const bad = (what: string) =>
    new ProjectError('RegistryDenied', `${program}, the credential helper of ${server}, ${what}`)
  if (!/^[\w.-]+$/.test(name)) throw bad('has a name that is not one of a program')
  const { failure, output } = await runHelper(program, server, environment)
  if (failure !== undefined) {
    if (/credentials not found/i.test(output)) return undefined
    throw bad(`failed: ${failure}`)
  }
  let answer: unknown
  try {
    answer = JSON.parse(output)
  } catch {
    answer = undefined // what it printed may be a secret
  }
  if (!isObject(answer) || typeof answer.Username !== 'string' || typeof answer.Secret !== 'string')
    throw bad('printed something other than Username and Secret')
  if (answer.Username === '<token>') return { type: 'identityToken', token: answer.Secret }
  return { type: 'password', username: answer.Username, password: answer.Secret }
}

function runHelper(
  program: string,
  input: string,
  environment: Environment,
): Promise<{ failure?: string; output: string }> {
  return new Promise(resolve => {
    const settings = {
      env: { ...environment },
      maxBuffer: helperLimits.output,
      timeout: helperLimits.milliseconds,
    }
    const child = execFile(program, ['get'], settings, (error, output, errors) => {
      if (error === null) return resolve({ output })
      const { code } = error
      const failure =
        code === 'ENOENT' ? 'it is not in PATH' : errors.trim().slice(0, 500) || `exit code ${code}`
      resolve({ failure, output: output + errors })
    })
    child.stdin?.on('error', () => {}) // a helper that ends without reading says why by its exit code
    child.stdin?.end(input)
  })
}
