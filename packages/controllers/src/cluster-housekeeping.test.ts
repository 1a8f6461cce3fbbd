import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import { ConfigMap, Namespace, PersistentVolumeClaim, Secret } from '@coxswain/api/core/v1'
import { IPAddress, ServiceCIDR } from '@coxswain/api/networking/v1'
import { ClusterRole, ClusterRoleBinding } from '@coxswain/api/rbac/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { type Client, createClient } from '@coxswain/client'
import {
  createBootstrapSignerController,
  createCertificateApprovingController,
  createCertificateCleanerController,
  createLocalPathProvisioner,
  createPersistentVolumeBinderController,
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeProtectionController,
  createServiceCidrController,
  createTokenCleanerController,
  localPathProvisioner,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import type { Operator } from '@coxswain/runtime'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { createCertificateRequest, generateKey, readCertificateRequest } from '@coxswain/wire/node'

async function clusterWith(...operators: readonly Operator[]): Promise<Cluster> {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }), controllers: false })
  for (const operator of operators) cluster.start(operator)
  await cluster.advance(1_000)
  return cluster
}

const issuer = {
  read(pem: string) {
    const { subject, dnsNames } = readCertificateRequest(pem)
    return { ...subject, dnsNames, ipAddresses: [], emailAddresses: [], uris: [] }
  },
}

const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const key = { name: 'r' }

async function askFor(cluster: Cluster, client: Client, commonName: string, signerName = nodeSigner) {
  const request = btoa(
    createCertificateRequest({ commonName, organizations: ['system:nodes'] }, generateKey()),
  )
  const usages = ['client auth', 'digital signature'] as const
  await cluster.run(
    client.create(CertificateSigningRequest, { metadata: key, spec: { request, signerName, usages } }),
  )
  await cluster.advance(1_000)
  return await cluster.run(cluster.client.get(CertificateSigningRequest, key))
}

describe('certificate requests', () => {
  const approving = scenariosOf('certificatesigningrequest-approving-controller', {
    controllers: () => [createCertificateApprovingController(issuer)],
    look: async cluster => {
      const request = await cluster.run(cluster.client.get(CertificateSigningRequest, key))
      return (request?.status?.conditions ?? []).map(({ type, reason, message }) => [type, reason, message])
    },
  })
  const cleaning = scenariosOf('certificatesigningrequest-cleaner-controller', {
    controllers: () => [createCertificateCleanerController()],
    hasHousekeeping: false,
    look: async cluster =>
      (await cluster.run(cluster.client.list(CertificateSigningRequest))).items.map(
        each => each.metadata.name,
      ),
  })
  const decide = async (cluster: Cluster, type: 'Approved' | 'Denied') => {
    const request = await cluster.run(cluster.client.get(CertificateSigningRequest, key))
    const condition = { type, status: 'True', reason: 'Test', message: 'test' }
    const approval = cluster.client.subresource(CertificateSigningRequest, key, 'approval')
    await cluster.run(approval.update({ ...request, status: { conditions: [condition] } }))
  }

  approving('of kubelets are approved if the requester is authorized', {
    act: cluster => askFor(cluster, cluster.client, 'system:node:n1'),
    end: [
      ['Approved', 'AutoApproved', 'Auto approving kubelet client certificate after SubjectAccessReview.'],
    ],
  })

  approving('that are already decided are left unchanged', {
    act: async cluster => {
      await askFor(cluster, cluster.client, 'a-user')
      await decide(cluster, 'Denied')
    },
    end: [['Denied', 'Test', 'test']],
  })

  cleaning('are deleted a day after they were created without a decision, and no earlier', {
    act: async cluster => {
      await askFor(cluster, cluster.client, 'system:node:n1')
      await cluster.advance(23 * 3_600_000)
      assert.ok(await cluster.run(cluster.client.get(CertificateSigningRequest, key)))
      await cluster.advance(2 * 3_600_000)
    },
    end: [],
  })

  cleaning('that were denied are deleted after an hour', {
    act: async cluster => {
      await askFor(cluster, cluster.client, 'system:node:n1')
      await decide(cluster, 'Denied')
      await cluster.advance(2 * 3_600_000)
    },
    end: [],
  })

  it('of other requesters wait for approval', async () => {
    await using cluster = await clusterWith(createCertificateApprovingController(issuer))
    const resources = { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] }
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asker' }
    const metadata = { name: 'asker' }
    await cluster.run(
      cluster.client.create(ClusterRole, { metadata, rules: [{ ...resources, verbs: ['create'] }] }),
    )
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }]
    await cluster.run(cluster.client.create(ClusterRoleBinding, { metadata, roleRef: role, subjects }))
    await cluster.advance(1_000)
    const mallory = createClient({ env: cluster.env, transport: cluster.connect({ name: 'mallory' }) })
    const request = await askFor(cluster, mallory, 'system:node:n1')
    assert.equal(request?.status?.conditions, undefined)
  })

  it('for other signers, or not for a node, are left alone', async () => {
    await using cluster = await clusterWith(createCertificateApprovingController(issuer))
    const request = await askFor(cluster, cluster.client, 'a-user')
    assert.equal(request?.status?.conditions, undefined)
  })
})

const info = { namespace: 'kube-public', name: 'cluster-info' }
const tokenKey = { namespace: 'kube-system', name: 'bootstrap-token-abcdef' }

async function createToken(cluster: Cluster, expiresIn: number): Promise<void> {
  const data = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    expiration: formatTime(cluster.env.clock.now() + expiresIn),
    'usage-bootstrap-signing': 'true',
  }
  await cluster.run(
    cluster.client.create(Secret, {
      metadata: tokenKey,
      type: 'bootstrap.kubernetes.io/token',
      stringData: data,
    }),
  )
}

describe('bootstrap tokens', () => {
  const cleaning = scenariosOf('token-cleaner-controller', {
    controllers: () => [createTokenCleanerController()],
    look: async cluster => (await cluster.run(cluster.client.get(Secret, tokenKey))) !== undefined,
  })

  cleaning('are deleted when they expire', {
    act: async cluster => {
      await createToken(cluster, 60_000)
      await cluster.advance(50_000)
      assert.ok(await cluster.run(cluster.client.get(Secret, tokenKey)))
      await cluster.advance(20_000)
    },
    end: false,
  })

  cleaning('live longer when their expiration is extended', {
    act: async cluster => {
      await createToken(cluster, 60_000)
      await cluster.advance(30_000)
      const expiration = formatTime(cluster.env.clock.now() + 10_000_000)
      const patch = { stringData: { expiration } }
      await cluster.run(cluster.client.patch(Secret, tokenKey, patch, { type: 'merge' }))
      await cluster.advance(100_000)
    },
    end: true,
  })

  const signing = scenariosOf('bootstrap-signer-controller', {
    controllers: () => [
      createBootstrapSignerController((secret, text) => createHmac('sha256', secret).update(text).digest()),
    ],
    others: () => [createTokenCleanerController()],
    before: async cluster => {
      const { client } = cluster
      if (!(await cluster.run(client.get(Namespace, { name: 'kube-public' }))))
        await cluster.run(client.create(Namespace, { metadata: { name: 'kube-public' } }))
      await cluster.run(client.create(ConfigMap, { metadata: info, data: { kubeconfig: 'text' } }))
    },
    /** The data of the ConfigMap, by key. */
    look: async cluster =>
      Object.keys((await cluster.run(cluster.client.get(ConfigMap, info)))?.data ?? {}).sort(),
  })

  signing('sign the public kubeconfig, also when it changes', {
    act: async cluster => {
      await createToken(cluster, 10_000_000)
      await cluster.advance(5_000)
      const data = { kubeconfig: 'other', 'jws-kubeconfig-abcdef': null }
      await cluster.run(cluster.client.patch(ConfigMap, info, { data }, { type: 'merge' }))
    },
    end: ['jws-kubeconfig-abcdef', 'kubeconfig'],
  })

  signing('are deleted with their signatures', {
    act: async cluster => {
      await createToken(cluster, 20_000)
      await cluster.advance(60_000)
    },
    end: ['kubeconfig'],
  })

  it('sign the public cluster-info until they expire', async () => {
    const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest()
    await using cluster = await clusterWith(createBootstrapSignerController(hmac))
    if (!(await cluster.run(cluster.client.get(Namespace, { name: 'kube-public' }))))
      await cluster.run(cluster.client.create(Namespace, { metadata: { name: 'kube-public' } }))
    await cluster.run(cluster.client.create(ConfigMap, { metadata: info, data: { kubeconfig: 'text' } }))
    await createToken(cluster, 60_000)
    await cluster.advance(2_000)
    const signed =
      (await cluster.run(cluster.client.get(ConfigMap, info)))?.data?.['jws-kubeconfig-abcdef'] ?? ''
    const [header = '', payload, signature] = signed.split('.')
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'HS256', kid: 'abcdef' })
    assert.equal(payload, '')
    const whole = `${header}.${Buffer.from('text').toString('base64url')}`
    assert.equal(signature, createHmac('sha256', '0123456789abcdef').update(whole).digest('base64url'))
    await cluster.advance(70_000)
    assert.deepEqual((await cluster.run(cluster.client.get(ConfigMap, info)))?.data, { kubeconfig: 'text' })
  })
})

const createRange = (cluster: Cluster, name: string, ...cidrs: string[]) =>
  cluster.run(cluster.client.create(ServiceCIDR, { metadata: { name }, spec: { cidrs } }))

const createAddress = (cluster: Cluster, name: string) =>
  cluster.run(
    cluster.client.create(IPAddress, {
      metadata: {
        name,
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'x' } },
    }),
  )

const describeRanges = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.list(ServiceCIDR))).items
    .filter(({ metadata }) => metadata.name !== 'kubernetes')
    .map(({ metadata, status }) =>
      [
        metadata.name,
        ...(status?.conditions ?? []).map(({ status: ready, reason }) => `${ready} ${reason}`.trim()),
      ].join(' '),
    )

describe('ServiceCIDRs', () => {
  const controllers = () => [createServiceCidrController()]

  const scenario = scenariosOf('service-cidr-controller', { controllers, look: describeRanges })

  scenario('are ready, and are kept while only they contain an address', {
    act: async cluster => {
      await createRange(cluster, 'used', '192.0.2.0/28')
      await createRange(cluster, 'free', '198.51.100.0/28')
      await cluster.advance(3_000)
      await createAddress(cluster, '192.0.2.5')
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(ServiceCIDR, { name: 'used' }))
      await cluster.advance(3_000)
    },
    end: ['free True', 'used False Terminating'],
  })

  scenario('are deleted when another range contains the address, or the address is deleted', {
    act: async cluster => {
      await createRange(cluster, 'a', '192.0.2.0/28')
      await createRange(cluster, 'b', '198.51.100.0/28')
      await createAddress(cluster, '192.0.2.5')
      await createAddress(cluster, '198.51.100.5')
      await cluster.advance(6_000) // a restarted controller has to add its finalizers first
      for (const name of ['a', 'b']) await cluster.run(cluster.client.delete(ServiceCIDR, { name }))
      await cluster.advance(15_000)
      assert.deepEqual(await describeRanges(cluster), ['a False Terminating', 'b False Terminating'])
      await createRange(cluster, 'wide', '192.0.2.0/24')
      await cluster.run(cluster.client.delete(IPAddress, { name: '198.51.100.5' }))
    },
    end: ['wide True'],
  })
})

describe('the local-path provisioner', () => {
  it('removes only the directories of volumes that it provisioned', async () => {
    const removed: string[] = []
    const remove = async (path: string) => void removed.push(path)
    await using cluster = await clusterWith(
      createLocalPathProvisioner({ root: '/data', remove }),
      createPersistentVolumeBinderController(),
      createPersistentVolumeClaimProtectionController(),
      createPersistentVolumeProtectionController(),
    )
    await cluster.run(
      cluster.client.create(StorageClass, { metadata: { name: 'local' }, provisioner: localPathProvisioner }),
    )
    const claim = { namespace: 'default', name: 'a' }
    const made = await cluster.run(
      cluster.client.create(PersistentVolumeClaim, {
        metadata: claim,
        spec: {
          storageClassName: 'local',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      }),
    )
    await cluster.advance(3_000)
    await cluster.run(cluster.client.delete(PersistentVolumeClaim, claim))
    await cluster.advance(3_000)
    assert.deepEqual(removed, [`/data/pvc-${made.metadata.uid}_default_a`])
  })
})
