import { dirname, isAbsolute, join } from 'node:path'
import { readYaml } from '@coxswain/apimachinery/yaml'
import {
  type AdmissionPlugin,
  chooseAdmissionPlugins,
  type PluginConfigurations,
  type WebhookAuthentication,
  type WebhookCredentials,
} from '@coxswain/apiserver'
import { parseKubeconfig } from '@coxswain/client/kubeconfig'
import { CommandError, explainSystemError } from '../../exit.ts'
import { readBoundedFile } from '../../host/flag-file.ts'
import { readPem } from '../../host/read-pem.ts'
import type { AdmissionFlags } from '../options/admission-options.ts'

export interface AdmissionSetup {
  readonly plugins: readonly AdmissionPlugin[]
  readonly webhookAuthentication?: WebhookAuthentication
}

type Kubeconfig = ReturnType<typeof parseKubeconfig>
type Data = Readonly<Record<string, unknown>>

const flag = '--admission-control-config-file'

/** Throws a CommandError with kube-apiserver's message. */
export function createAdmissionSetup(flags: AdmissionFlags): AdmissionSetup {
  const { enableAdmissionPlugins: enable = [], disableAdmissionPlugins: disable = [] } = flags
  const file = flags.admissionControlConfigFile
  const settings = file === undefined ? new Map<string, Data>() : readConfiguration(file)
  const chosen = chooseAdmissionPlugins({
    enable,
    disable,
    configurations: {
      ...(settings.has('PodSecurity') && { PodSecurity: settings.get('PodSecurity')! }),
      ...(settings.has('PodNodeSelector') && {
        PodNodeSelector: (settings.get('PodNodeSelector')!.podNodeSelectorPluginConfig ?? {}) as Record<
          string,
          string
        >,
      }),
    } as PluginConfigurations,
  })
  if (!chosen.ok) throw new CommandError(chosen.errors.join('; '), { exitCode: 2 })
  const users = new Map<string, Kubeconfig>()
  for (const plugin of ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']) {
    const kubeconfig = settings.get(plugin)?.kubeConfigFile
    if (typeof kubeconfig === 'string' && kubeconfig !== '') users.set(plugin, readUsers(kubeconfig))
  }
  if (users.size === 0) return { plugins: chosen.plugins }
  return {
    plugins: chosen.plugins,
    webhookAuthentication: (hostPort, plugin) => {
      const kubeconfig = users.get(plugin)
      return kubeconfig && findCredentials(kubeconfig, hostPort)
    },
  }
}

/** The settings of each plug-in, inline or in a file of its own. */
function readConfiguration(file: string): Map<string, Data> {
  const { kind, apiVersion, plugins } = readDocument(file)
  if (kind !== 'AdmissionConfiguration' || !String(apiVersion).startsWith('apiserver.config.k8s.io/'))
    throw new CommandError(
      `${flag} ${file}: no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}`,
      { exitCode: 2 },
    )
  const settings = new Map<string, Data>()
  for (const { name, path, configuration } of Array.isArray(plugins) ? (plugins as Data[]) : []) {
    const elsewhere = typeof path === 'string' && path !== ''
    const data = elsewhere
      ? readDocument(isAbsolute(path) ? path : join(dirname(file), path))
      : ((configuration ?? {}) as Data)
    settings.set(String(name), data)
  }
  return settings
}

function readDocument(file: string): Data {
  try {
    const value = readYaml(readBoundedFile(file))?.value
    return typeof value === 'object' && value !== null ? (value as Data) : {}
  } catch (error) {
    throw new CommandError(
      `failed to read admission control configuration from ${JSON.stringify(file)} [${explainSystemError(error)}]`,
      { cause: error },
    )
  }
}

function readUsers(file: string): Kubeconfig {
  if (!isAbsolute(file))
    throw new CommandError(
      `kubeConfigFile: Invalid value: ${JSON.stringify(file)}: must be an absolute file path`,
      { exitCode: 2 },
    )
  try {
    return parseKubeconfig(readBoundedFile(file), file)
  } catch (error) {
    throw new CommandError(`${flag}: ${file}: ${explainSystemError(error)}`, { cause: error })
  }
}

/** Users are named after the servers they are for: `host:port`, `*.suffix`, `*`; port 443 may be left out. */
function findCredentials(kubeconfig: Kubeconfig, hostPort: string): WebhookCredentials | undefined {
  const names = [...namesFor(hostPort)]
  if (hostPort.endsWith(':443')) for (const item of namesFor(hostPort.slice(0, -4))) names.push(item)
  names.push('*')
  const current = kubeconfig.contexts?.find(({ name }) => name === kubeconfig['current-context'])
  if (current?.context?.user) names.push(current.context.user)
  for (const wanted of names) {
    const found = kubeconfig.users?.find(({ name }) => name === wanted)
    if (found) return readCredentials(found.user ?? {})
  }
  return undefined
}

function* namesFor(target: string): Generator<string> {
  yield target
  const steps = target.split('.')
  for (let i = 1; i < steps.length; i++) yield `*.${steps.slice(i).join('.')}`
}

function readCredentials(
  user: NonNullable<NonNullable<Kubeconfig['users']>[number]['user']>,
): WebhookCredentials {
  const token = user.token || (user.tokenFile && readBoundedFile(user.tokenFile).trim())
  const cert = readPem(user['client-certificate-data'], user['client-certificate'])
  const key = readPem(user['client-key-data'], user['client-key'])
  return {
    ...(token && { token }),
    ...(user.username !== undefined && { username: user.username }),
    ...(user.password !== undefined && { password: user.password }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
}
