import { describe } from 'node:test'
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@coxswain/api/core/v1'
import { ClusterRole } from '@coxswain/api/rbac/v1'
import { signJwt } from '@coxswain/apiserver'
import {
  createClusterRoleAggregationController,
  createNamespaceController,
  createRootCaPublisher,
  createServiceAccountController,
  createTokenController,
} from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { testServiceAccounts } from '@coxswain/testing/test-support/service-account-keys'

const createNamespace = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.create(Namespace, { metadata: { name } }))

describe('default service accounts, with faults injected into their controller', () => {
  const scenario = scenariosOf('serviceaccount-controller', {
    controllers: () => [createServiceAccountController()],
    others: () => [createNamespaceController()],
    hasHousekeeping: false,
    look: async cluster =>
      (await cluster.run(cluster.client.list(ServiceAccount))).items
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .filter(name => !name.startsWith('kube-'))
        .sort(),
  })

  scenario('exist in every namespace', {
    before: cluster => createNamespace(cluster, 'older'),
    act: cluster => createNamespace(cluster, 'team'),
    end: ['default/default', 'older/default', 'team/default'],
  })

  scenario('are recreated when they are deleted, and others are not', {
    act: async cluster => {
      for (const name of ['default', 'robot']) {
        const key = { namespace: 'default', name }
        if (name !== 'default') await cluster.run(cluster.client.create(ServiceAccount, { metadata: key }))
        await cluster.run(cluster.client.delete(ServiceAccount, key))
      }
    },
    end: ['default/default'],
  })

  scenario('are not created in a terminating namespace', {
    act: async cluster => {
      await createNamespace(cluster, 'team')
      const held = { namespace: 'team', name: 'held', finalizers: ['example.com/wait'] }
      await cluster.run(cluster.client.create(ConfigMap, { metadata: held }))
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(Namespace, { name: 'team' }))
    },
    end: ['default/default'],
  })
})

describe('service account token secrets, with faults injected into their controller', () => {
  const account = { namespace: 'default', name: 'bot' }
  const secret = { namespace: 'default', name: 'bot-token' }
  const createAccount = (cluster: Cluster) =>
    cluster.run(cluster.client.create(ServiceAccount, { metadata: account }))
  const createSecret = (cluster: Cluster) => {
    const annotations = { 'kubernetes.io/service-account.name': 'bot' }
    const type = 'kubernetes.io/service-account-token'
    return cluster.run(cluster.client.create(Secret, { metadata: { ...secret, annotations }, type }))
  }
  const scenario = scenariosOf('serviceaccount-token-controller', {
    controllers: () => {
      const sign = (claims: Record<string, unknown>) => signJwt(claims, testServiceAccounts.signingKey)
      return [createTokenController({ sign, rootCa: 'CA' })]
    },
    /** The content of the secret, and whether it belongs to the current account. */
    look: async cluster => {
      const found = await cluster.run(cluster.client.get(Secret, secret))
      const owner = await cluster.run(cluster.client.get(ServiceAccount, account))
      if (!found) return 'gone'
      const uid = found.metadata.annotations?.['kubernetes.io/service-account.uid']
      return [...Object.keys(found.data ?? {}).sort(), uid === owner?.metadata.uid]
    },
  })
  const filled = ['ca.crt', 'namespace', 'token', true]

  scenario('are populated', {
    act: async cluster => {
      await createAccount(cluster)
      await createSecret(cluster)
    },
    end: filled,
  })

  scenario('are restored when a field is removed', {
    act: async cluster => {
      await createAccount(cluster)
      await createSecret(cluster)
      await cluster.advance(5_000)
      const data = { token: null, 'ca.crt': btoa('other') }
      await cluster.run(cluster.client.patch(Secret, secret, { data }, { type: 'merge' }))
    },
    end: filled,
  })

  scenario('are deleted with their account', {
    act: async cluster => {
      await createAccount(cluster)
      await createSecret(cluster)
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(ServiceAccount, account))
    },
    end: 'gone',
  })

  scenario('of an account that was recreated are deleted as well', {
    act: async cluster => {
      await createAccount(cluster)
      await createSecret(cluster)
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(ServiceAccount, account))
      await createAccount(cluster)
    },
    end: 'gone',
  })
})

describe('the root CA certificate, with faults injected into its publisher', () => {
  const name = 'kube-root-ca.crt'
  const scenario = scenariosOf('root-ca-certificate-publisher-controller', {
    controllers: () => [createRootCaPublisher('PEM')],
    look: async cluster =>
      (await cluster.run(cluster.client.list(ConfigMap))).items
        .filter(({ metadata }) => metadata.name === name && !metadata.namespace?.startsWith('kube-'))
        .map(({ metadata, data }) => `${metadata.namespace}: ${JSON.stringify(data)}`)
        .sort(),
  })
  const both = ['default: {"ca.crt":"PEM"}', 'team: {"ca.crt":"PEM"}']

  scenario('exists in every namespace', { act: cluster => createNamespace(cluster, 'team'), end: both })

  scenario('is restored when it is deleted or changed', {
    act: async cluster => {
      await createNamespace(cluster, 'team')
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(ConfigMap, { namespace: 'team', name }))
      const data = { 'ca.crt': 'another', more: 'x' }
      await cluster.run(
        cluster.client.patch(ConfigMap, { namespace: 'default', name }, { data }, { type: 'merge' }),
      )
    },
    end: both,
  })
})

describe('aggregated cluster roles, with faults injected into their controller', () => {
  const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })
  const label = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, 'true']))
  const createRole = (
    cluster: Cluster,
    roleName: string,
    labels: Readonly<Record<string, string>>,
    ...resources: readonly string[]
  ) =>
    cluster.run(
      cluster.client.create(ClusterRole, {
        metadata: { name: roleName, labels },
        rules: resources.map(rule),
      }),
    )
  const createGatherer = (cluster: Cluster, roleName: string, of: string, labels = {}) =>
    cluster.run(
      cluster.client.create(ClusterRole, {
        metadata: { name: roleName, labels },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(of) }] },
      }),
    )
  const scenario = scenariosOf('clusterrole-aggregation-controller', {
    controllers: () => [createClusterRoleAggregationController()],
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(ClusterRole))
      return items
        .filter(({ metadata, aggregationRule }) => aggregationRule && metadata.name?.startsWith('all'))
        .map(
          ({ metadata, rules }) => `${metadata.name}: ${rules?.flatMap(({ resources }) => resources).join()}`,
        )
    },
  })

  scenario('have all rules', {
    act: async cluster => {
      await createRole(cluster, 'x', label('a'), 'pods')
      await createGatherer(cluster, 'all', 'a')
      await createRole(cluster, 'y', label('a'), 'services')
      await createRole(cluster, 'z', label('b'), 'nodes')
    },
    end: ['all: pods,services'],
  })

  scenario('follow labels and rules, and lose deleted ones', {
    act: async cluster => {
      for (const each of ['x', 'y', 'z']) await createRole(cluster, each, label('a'), each)
      await createGatherer(cluster, 'all', 'a')
      await cluster.advance(5_000)
      const { client } = cluster
      await cluster.run(client.delete(ClusterRole, { name: 'x' }))
      const unlabelled = { metadata: { labels: { a: null } } }
      await cluster.run(client.patch(ClusterRole, { name: 'y' }, unlabelled, { type: 'merge' }))
      await cluster.run(client.patch(ClusterRole, { name: 'z' }, { rules: [rule('new')] }, { type: 'merge' }))
    },
    end: ['all: new'],
  })

  scenario('aggregate aggregated roles', {
    act: async cluster => {
      await createGatherer(cluster, 'all', 'b')
      await createGatherer(cluster, 'all-of-a', 'a', label('b'))
      await createRole(cluster, 'x', label('a'), 'pods')
    },
    end: ['all: pods', 'all-of-a: pods'],
  })
})
