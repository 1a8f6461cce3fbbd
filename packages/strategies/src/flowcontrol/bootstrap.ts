import type {
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from '@coxswain/api/flowcontrol/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'

/**
 * The flow schemas and priority levels that every server has. Two of each are mandatory: their specs are fixed. The
 * others are suggestions that an administrator may change.
 */

const everything = ['*']
const unauthenticated = 'system:unauthenticated'
const authenticated = 'system:authenticated'
const controllerManager = 'system:kube-controller-manager'
const scheduler = 'system:kube-scheduler'

const groups = (...names: string[]): Decoded<Subject>[] =>
  names.map(name => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]): Decoded<Subject>[] =>
  names.map(name => ({ kind: 'User', user: { name } }))
const systemAccounts: Decoded<Subject>[] = [
  { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
]

/** Everything that its subjects do. */
const anything = (subjects: Decoded<Subject>[]): Decoded<PolicyRulesWithSubjects> => ({
  subjects,
  resourceRules: [
    {
      verbs: everything,
      apiGroups: everything,
      resources: everything,
      clusterScope: true,
      namespaces: everything,
    },
  ],
  nonResourceRules: [{ verbs: everything, nonResourceURLs: everything }],
})

const leases = (verbs: string[]): Decoded<ResourcePolicyRule> => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: everything,
})

function schema(
  level: string,
  matchingPrecedence: number,
  method: string,
  rule: Decoded<PolicyRulesWithSubjects>,
): Decoded<FlowSchemaSpec> {
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(method !== '' && { distinguisherMethod: { type: method } }),
    rules: [rule],
  }
}

function queued(
  shares: number,
  lendable: number,
  queues: number,
  handSize: number,
): Decoded<PriorityLevelConfigurationSpec> {
  return {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      lendablePercent: lendable,
    },
  }
}

/** Specs by name. */
export const mandatoryFlowSchemas: ReadonlyMap<string, Decoded<FlowSchemaSpec>> = new Map([
  ['exempt', schema('exempt', 1, '', anything(groups('system:masters')))],
  ['catch-all', schema('catch-all', 10000, 'ByUser', anything(groups(unauthenticated, authenticated)))],
])

const suggestedFlowSchemas: ReadonlyMap<string, Decoded<FlowSchemaSpec>> = new Map([
  [
    'probes',
    schema('exempt', 2, '', {
      subjects: groups(unauthenticated, authenticated),
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    }),
  ],
  [
    'system-leader-election',
    schema('leader-election', 100, 'ByUser', {
      subjects: [...users(controllerManager, scheduler), ...systemAccounts],
      resourceRules: [leases(['get', 'create', 'update'])],
    }),
  ],
  [
    'system-node-high',
    schema('node-high', 400, 'ByUser', {
      subjects: groups('system:nodes'),
      resourceRules: [
        {
          verbs: everything,
          apiGroups: [''],
          resources: ['nodes', 'nodes/status'],
          clusterScope: true,
          namespaces: everything,
        },
        leases(everything),
      ],
    }),
  ],
  ['system-nodes', schema('system', 500, 'ByUser', anything(groups('system:nodes')))],
  [
    'kube-controller-manager',
    schema('workload-high', 800, 'ByNamespace', anything(users(controllerManager))),
  ],
  ['kube-scheduler', schema('workload-high', 800, 'ByNamespace', anything(users(scheduler)))],
  ['kube-system-service-accounts', schema('workload-high', 900, 'ByNamespace', anything(systemAccounts))],
  ['service-accounts', schema('workload-low', 9000, 'ByUser', anything(groups('system:serviceaccounts')))],
  [
    'global-default',
    schema('global-default', 9900, 'ByUser', anything(groups(unauthenticated, authenticated))),
  ],
])

/** Specs by name. */
export const mandatoryPriorityLevels: ReadonlyMap<string, Decoded<PriorityLevelConfigurationSpec>> = new Map<
  string,
  Decoded<PriorityLevelConfigurationSpec>
>([
  ['exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [
    'catch-all',
    {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
    },
  ],
])

const suggestedPriorityLevels: ReadonlyMap<string, Decoded<PriorityLevelConfigurationSpec>> = new Map([
  ['system', queued(30, 33, 64, 6)],
  ['node-high', queued(40, 25, 64, 6)],
  ['leader-election', queued(10, 0, 16, 4)],
  ['workload-high', queued(40, 50, 128, 6)],
  ['workload-low', queued(100, 90, 128, 6)],
  ['global-default', queued(20, 50, 128, 6)],
])

const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }

/** Suggestions for components that run Pods, with the resource that they are for. */
const needs: ReadonlyMap<string, string> = new Map([
  ['node-high', 'nodes'],
  ['system', 'nodes'],
  ['system-node-high', 'nodes'],
  ['system-nodes', 'nodes'],
  ['kube-scheduler', 'pods'],
])

/** The objects as a client would create them, without those for resources that are not served. */
export function bootstrapFlowControl(serves: (resource: string) => boolean = () => true): JsonObject[] {
  const objects = (kind: string, specs: Iterable<[string, JsonObject]>): JsonObject[] =>
    Array.from(specs)
      .filter(([name]) => !needs.has(name) || serves(needs.get(name)!))
      .map(([name, spec]) => ({
        kind,
        apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
        metadata: { name, annotations },
        spec,
      }))
  return [
    ...objects('PriorityLevelConfiguration', [...mandatoryPriorityLevels, ...suggestedPriorityLevels]),
    ...objects('FlowSchema', [...mandatoryFlowSchemas, ...suggestedFlowSchemas]),
  ]
}
