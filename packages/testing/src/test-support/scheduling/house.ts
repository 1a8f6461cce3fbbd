/** What every scenario finds: accounts, priorities, namespaces, the scheduler's profiles, and an extender. */
import { Namespace, ServiceAccount } from '@coxswain/api/core/v1'
import { PriorityClass } from '@coxswain/api/scheduling/v1'
import {
  type PostJson,
  type Profile,
  readSchedulerConfiguration,
  type SchedulerOptions,
  type SchedulerPlugin,
} from '@coxswain/scheduler'
import type { Given } from './scenario.ts'

export const house: readonly Given[] = [
  [Namespace, { metadata: { name: 'other', labels: { team: 'blue' } } }],
  [Namespace, { metadata: { name: 'third', labels: { team: 'red' } } }],
  ...['default', 'other', 'third'].map(
    (namespace): Given => [ServiceAccount, { metadata: { name: 'default', namespace } }],
  ),
  [PriorityClass, { metadata: { name: 'low' }, value: -10 }],
  [PriorityClass, { metadata: { name: 'middle' }, value: 100 }],
  [PriorityClass, { metadata: { name: 'high' }, value: 1_000 }],
  [PriorityClass, { metadata: { name: 'higher' }, value: 2_000 }],
  [PriorityClass, { metadata: { name: 'polite' }, value: 1_000, preemptionPolicy: 'Never' }],
]

/** The default address of the extender. */
const nowhere = 'http://127.0.0.1:1'

/** A KubeSchedulerConfiguration. Only pods that ask for `example.com/rack` are the extender's. */
export const configurationOf = (extenderUrl = nowhere): Readonly<Record<string, unknown>> => ({
  apiVersion: 'kubescheduler.config.k8s.io/v1',
  kind: 'KubeSchedulerConfiguration',
  profiles: [
    { schedulerName: 'default-scheduler' },
    {
      schedulerName: 'packing',
      plugins: { score: { disabled: [{ name: 'NodeResourcesBalancedAllocation' }] } },
      pluginConfig: [
        {
          name: 'NodeResourcesFit',
          args: {
            scoringStrategy: {
              type: 'MostAllocated',
              resources: [
                { name: 'cpu', weight: 1 },
                { name: 'memory', weight: 1 },
              ],
            },
          },
        },
      ],
    },
    {
      schedulerName: 'special',
      pluginConfig: [
        {
          name: 'NodeAffinity',
          args: {
            addedAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: 'pool', operator: 'In', values: ['special'] }] },
                ],
              },
            },
          },
        },
      ],
    },
    {
      schedulerName: 'peaceful',
      plugins: { postFilter: { disabled: [{ name: 'DefaultPreemption' }] } },
    },
    {
      schedulerName: 'counting',
      plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit' }] } },
      pluginConfig: [
        {
          name: 'NodeResourcesFit',
          args: {
            scoringStrategy: {
              type: 'LeastAllocated',
              resources: [
                { name: 'example.com/card', weight: 1 },
                { name: 'cpu', weight: 1 },
              ],
            },
          },
        },
      ],
    },
    {
      schedulerName: 'careless',
      plugins: { filter: { disabled: [{ name: 'TaintToleration' }] } },
    },
  ],
  extenders: [
    {
      urlPrefix: extenderUrl,
      filterVerb: 'filter',
      prioritizeVerb: 'prioritize',
      weight: 5,
      nodeCacheCapable: true,
      managedResources: [{ name: 'example.com/rack', ignoredByScheduler: true }],
    },
  ],
})

/** The extender: there are no racks on nodes called `x...`, there never will be on `y...`, and `n2` has the best one. */
export function answerExtender(url: string, body: unknown): unknown {
  const { NodeNames: names } = body as { readonly NodeNames: readonly string[] }
  if (url.endsWith('/prioritize')) return names.map(name => ({ Host: name, Score: name === 'n2' ? 10 : 0 }))
  const failing = (letter: string, reason: string) =>
    Object.fromEntries(names.filter(name => name.startsWith(letter)).map(name => [name, reason]))
  return {
    NodeNames: names.filter(name => name.startsWith('n')),
    FailedNodes: failing('x', 'no rack is free'),
    FailedAndUnresolvableNodes: failing('y', 'there is no rack'),
  }
}

/** The number of scheduling attempts. */
export interface Tries {
  count: number
}

/** Options for a scheduler of ours that does what the configuration says, and counts. */
export function optionsOf(
  tries: Tries,
  connectExtender: () => PostJson,
  own: readonly SchedulerPlugin[] = [],
): SchedulerOptions {
  const read = readSchedulerConfiguration(configurationOf(), { connectExtender })
  const counter: SchedulerPlugin = {
    name: 'Counter',
    preFilter: () => {
      tries.count++
      return undefined
    },
    wakesOn: () => false,
  }
  const plugins = [counter, ...own]
  const names = plugins.map(({ name }) => name)
  const addTo = (profile: Profile): Profile => ({
    ...profile,
    plugins: [...plugins.map(plugin => ({ plugin })), ...profile.plugins],
    ...(profile.points && {
      points: Object.fromEntries(
        Object.entries(profile.points).map(([point, known]) => [point, [...names, ...known]]),
      ) as Profile['points'] & object,
    }),
  })
  return { ...read, profiles: evict => read.profiles!(evict).map(addTo) }
}
