import { CommandError } from '../../exit.ts'
import { runsPods, type ServedKinds } from './kinds.ts'
import type { GivenOptions, UpOptions } from './up-options.ts'

interface Rule {
  /** Property names of options; a trailing star matches any suffix. */
  readonly options: readonly string[]
  /** Exceptions that need nothing else. */
  readonly except?: readonly string[]
  readonly needs: string
  readonly isMet: (options: UpOptions, kinds: ServedKinds) => unknown
}

/** Of operators; the flags that begin with --leader-elect- are those of controllers. */
const operatorLease = ['leaderElectionId', 'leaderElectionNamespace']

const runsLoops = ({ controllers }: UpOptions) => controllers.join() !== 'none'

/** Options that do nothing without another one. */
const rules: readonly Rule[] = [
  { options: ['etcd*'], needs: '--storage etcd', isMet: ({ storage }) => storage === 'etcd' },
  { options: ['unsafeNoFsync'], needs: '--storage sqlite', isMet: ({ storage }) => storage === 'sqlite' },
  {
    options: ['encryptionProviderConfigAutomaticReload'],
    needs: '--encryption-provider-config',
    isMet: ({ encryptionProviderConfig }) => encryptionProviderConfig,
  },
  {
    options: ['auditPolicyFile'],
    needs: '--audit-log-path or --audit-webhook-config-file',
    isMet: ({ auditLogPath, auditWebhookConfigFile }) => auditLogPath ?? auditWebhookConfigFile,
  },
  {
    options: ['auditLog*'],
    except: ['auditLogPath'],
    needs: '--audit-log-path',
    isMet: ({ auditLogPath }) => auditLogPath,
  },
  {
    options: ['auditWebhook*'],
    except: ['auditWebhookConfigFile'],
    needs: '--audit-webhook-config-file',
    isMet: ({ auditWebhookConfigFile }) => auditWebhookConfigFile,
  },
  {
    options: ['authenticationTokenWebhook*'],
    except: ['authenticationTokenWebhookConfigFile'],
    needs: '--authentication-token-webhook-config-file',
    isMet: ({ authenticationTokenWebhookConfigFile }) => authenticationTokenWebhookConfigFile,
  },
  {
    options: ['oidc*'],
    except: ['oidcIssuerUrl', 'oidcClientId'],
    needs: '--oidc-issuer-url and --oidc-client-id',
    isMet: ({ oidcIssuerUrl, oidcClientId }) => oidcIssuerUrl && oidcClientId,
  },
  {
    options: ['requestheader*'],
    except: ['requestheaderClientCaFile'],
    needs: '--requestheader-client-ca-file',
    isMet: ({ requestheaderClientCaFile }) => requestheaderClientCaFile,
  },
  {
    options: ['authorizationWebhook*'],
    except: ['authorizationWebhookConfigFile'],
    needs: '--authorization-mode Webhook',
    isMet: ({ authorizationMode, authorizationConfig }) =>
      authorizationConfig ?? authorizationMode?.includes('Webhook'),
  },
  {
    options: [
      'leaderElect*',
      'cloudProvider',
      'allocateNodeCidrs',
      'scheduler*',
      'nodes',
      'runtime',
      'missingImages',
      'serviceProxy',
      'isolation',
      'image',
    ],
    except: operatorLease,
    needs: 'controllers, which --controllers none disables',
    isMet: runsLoops,
  },
  {
    options: [
      'cloudProvider',
      'allocateNodeCidrs',
      'scheduler*',
      'nodes',
      'runtime',
      'missingImages',
      'serviceProxy',
      'isolation',
      'image',
    ],
    needs: 'pods and nodes, which --kinds leaves out',
    isMet: (_, kinds) => runsPods(kinds),
  },
  {
    options: ['serviceClusterIpRange'],
    needs: 'services, which --kinds leaves out',
    isMet: (_, { serves }) => serves('services'),
  },
  {
    options: ['clusterCidr', 'nodeCidrMaskSize*'],
    needs: '--allocate-node-cidrs',
    isMet: ({ allocateNodeCidrs }) => allocateNodeCidrs,
  },
  {
    options: ['leaderElect*'],
    except: ['leaderElect', 'leaderElectionNamespace'],
    needs: '--leader-elect true',
    isMet: ({ leaderElect }) => leaderElect === 'true',
  },
  {
    options: [
      'config',
      'kubeApi*',
      'leaderElection*',
      'namespaces',
      'concurrency',
      'metrics*',
      'healthProbeBindAddress',
      'pprofBindAddress',
      'webhook*',
    ],
    needs: '--operator',
    isMet: ({ operator }) => operator,
  },
  {
    options: ['kubeApiBurst'],
    needs: '--kube-api-qps',
    isMet: ({ kubeApiQps }) => kubeApiQps !== undefined,
  },
  {
    options: ['leaderElectionNamespace'],
    needs: '--leader-election-id',
    isMet: ({ leaderElectionId }) => leaderElectionId !== undefined,
  },
  {
    options: ['missingImages'],
    needs: '--runtime simulated and at least one of --nodes',
    isMet: ({ runtime, nodes }) => runtime === 'simulated' && nodes > 0,
  },
  {
    options: ['serviceProxy'],
    needs: '--runtime process',
    isMet: ({ runtime, serviceProxy }) => runtime === 'process' || serviceProxy === 'false',
  },
  {
    options: ['isolation', 'image'],
    needs: '--runtime process and at least one of --nodes',
    isMet: ({ runtime, nodes }) => runtime === 'process' && nodes > 0,
  },
]

/** The options with what they imply: etcd servers imply etcd storage; --secure-port is --port; without Pods there are no nodes. */
export function completeOptions(options: UpOptions, given: GivenOptions, kinds: ServedKinds): UpOptions {
  const isImplied = given.has('etcdServers') && !given.has('storage')
  return {
    ...options,
    port: options.securePort ?? options.port,
    ...(isImplied && { storage: 'etcd' }),
    ...(!runsPods(kinds) && { nodes: 0 }),
  }
}

/** Throws a usage error for an option that would have no effect, and for options that exclude each other. */
export function checkCombinations(options: UpOptions, given: GivenOptions, kinds: ServedKinds): void {
  for (const rule of rules) {
    if (rule.isMet(options, kinds)) continue
    for (const [property, flag] of given) {
      if (!isNamed(rule, property)) continue
      throw new CommandError(`${flag} has no effect without ${rule.needs}`, { exitCode: 2 })
    }
  }
  if (options.maxRequestsInflight + options.maxMutatingRequestsInflight === 0)
    throw new CommandError(
      '--max-requests-inflight and --max-mutating-requests-inflight must have a positive sum',
      { exitCode: 2 },
    )
  if ((options.etcdCertfile === undefined) !== (options.etcdKeyfile === undefined))
    throw new CommandError('--etcd-certfile and --etcd-keyfile must be given together', { exitCode: 2 })
  if ((options.tlsCertFile === undefined) !== (options.tlsPrivateKeyFile === undefined))
    throw new CommandError('--tls-cert-file and --tls-private-key-file must be given together', {
      exitCode: 2,
    })
}

function isNamed({ options, except = [] }: Rule, property: string): boolean {
  if (except.includes(property)) return false
  return options.some(name =>
    name.endsWith('*') ? property.startsWith(name.slice(0, -1)) : property === name,
  )
}
