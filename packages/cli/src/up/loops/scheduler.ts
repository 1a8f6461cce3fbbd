import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { decodeText, type Env, encodeText } from '@coxswain/kit'
import {
  type ExtenderConfiguration,
  type PluginFactory,
  type PostJson,
  readSchedulerConfiguration,
  type SchedulerOptions,
  type SchedulerPlugin,
} from '@coxswain/scheduler'
import { readBody } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
import { CommandError } from '../../exit.ts'
import { readPem } from '../../host/read-pem.ts'
import { describeImportError } from '../../import-error.ts'
import { readFlagFile } from '../options/flag-file.ts'
import type { SchedulerFlags } from '../options/scheduler-options.ts'

type OwnPlugin = SchedulerPlugin | PluginFactory

/** The scheduler options from flags. Throws a CommandError with the flag and its file. */
export async function loadSchedulerOptions(flags: SchedulerFlags, env: Env): Promise<SchedulerOptions> {
  const plugins = await Promise.all((flags.schedulerPlugin ?? []).map(loadPlugin))
  if (flags.schedulerConfig === undefined) return { plugins: plugins.map(makePlugin) }
  return readFlagFile('scheduler-config', flags.schedulerConfig, text => {
    const document = readYaml(text)
    if (document && document.problems.length > 0)
      throw new Error(`strict decoding error: ${document.problems.join(', ').replaceAll(/\s*\n\s*/g, ' ')}`)
    return readSchedulerConfiguration(document?.value, {
      plugins,
      connectExtender: extender => connectExtender(extender, env),
    })
  })
}

function makePlugin(plugin: OwnPlugin): SchedulerPlugin {
  return 'create' in plugin ? plugin.create(undefined) : plugin
}

/** Imports the plug-in that the file exports by default. Importing starts nothing. */
async function loadPlugin(file: string): Promise<OwnPlugin> {
  const say = (what: string, cause?: unknown) =>
    new CommandError(`--scheduler-plugin ${file}: ${what}`, { cause })
  if (!existsSync(file)) throw say('does not exist')
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(resolve(file)).href)
  } catch (error) {
    throw new CommandError(`--scheduler-plugin cannot be loaded: ${describeImportError(file, error)}`, {
      cause: error,
    })
  }
  const plugin = module.default as Partial<OwnPlugin> | undefined
  if (typeof plugin === 'object' && plugin !== null && typeof plugin.name === 'string')
    return plugin as OwnPlugin
  throw say('the default export is not a plug-in; use export default { name, filter, score, ... }')
}

const defaultTimeout = '5s'

/** As upstream's client: HTTPS without a CA accepts any certificate. */
function connectExtender(extender: ExtenderConfiguration, { clock }: Env): PostJson {
  const { enableHTTPS = false, tlsConfig = {}, httpTimeout } = extender
  const ca = readPem(tlsConfig.caData, tlsConfig.caFile)
  const cert = readPem(tlsConfig.certData, tlsConfig.certFile)
  const key = readPem(tlsConfig.keyData, tlsConfig.keyFile)
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tlsConfig.serverName && { serverName: tlsConfig.serverName }),
    ...((tlsConfig.insecure || (enableHTTPS && ca === undefined)) && { insecure: true }),
  }
  const { origin } = new URL(extender.urlPrefix)
  const transport = createHttpTransport({ server: origin, tls })
  const timeout =
    durationToMilliseconds(parseDuration(httpTimeout ?? defaultTimeout)) ||
    durationToMilliseconds(parseDuration(defaultTimeout))
  return async (url, body) => {
    const { pathname, search } = new URL(url)
    const abort = new AbortController()
    const timer = clock.after(timeout, () => abort.abort(new Error(`${url} did not answer in ${timeout} ms`)))
    try {
      const response = await transport.send({
        method: 'POST',
        path: pathname,
        query: search.slice(1),
        headers: { 'content-type': 'application/json' },
        body: encodeText(JSON.stringify(body)),
        signal: abort.signal,
      })
      const answer = decodeText(await readBody(response.body))
      if (response.status !== 200) throw new Error(`${url} answered with code ${response.status}`)
      return JSON.parse(answer) as unknown
    } finally {
      timer.cancel()
    }
  }
}
