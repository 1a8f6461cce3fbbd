import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import { ConfigMap, Namespace, PersistentVolumeClaim, Secret } from '@coxswain/api/core/v1'
import { IPAddress, ServiceCIDR } from '@coxswain/api/networking/v1'
import { ClusterRole, ClusterRoleBinding } from '@coxswain/api/rbac/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { formatTime } from '@coxswain/apimachinery'
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
import { createCertificateRequest, generateKey, readCertificateRequest } from '@coxswain/wire/node'
import { type Cluster, startCluster } from './cluster.ts'
import { playWithCrashes } from './test-support/play-with-crashes.ts'

async function clusterWith(...operators: readonly Operator[]): Promise<Cluster> {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }), controllers: false })
  for (const operator of operators) cluster.start(operator)
  await cluster.advance(1_000)
  return cluster
}

const issuer = {
  read(pem: string) {
    const { subject, dnsNames } = readCertificateRequest(pem)
    return { ...subject, hasOtherNames: dnsNames.length > 0 }
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
  it('of kubelets are approved when whoever asks may have them', async () => {
    await using cluster = await clusterWith(createCertificateApprovingController(issuer))
    const request = await askFor(cluster, cluster.client, 'system:node:n1')
    const [condition] = request?.status?.conditions ?? []
    assert.equal(condition?.type, 'Approved')
    assert.equal(condition?.reason, 'AutoApproved')
    assert.equal(condition?.message, 'Auto approving kubelet client certificate after SubjectAccessReview.')
  })

  it('of others wait for somebody to say so', async () => {
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

  it('for other signers, or for no node, are left alone', async () => {
    await using cluster = await clusterWith(createCertificateApprovingController(issuer))
    const request = await askFor(cluster, cluster.client, 'somebody')
    assert.equal(request?.status?.conditions, undefined)
  })

  it('go after a day unanswered, and an hour after they were denied', async () => {
    await using cluster = await clusterWith(createCertificateCleanerController())
    const get = () => cluster.run(cluster.client.get(CertificateSigningRequest, key))
    const made = await askFor(cluster, cluster.client, 'system:node:n1')
    await cluster.advance(23 * 3_600_000)
    assert.ok(await get())
    await cluster.advance(2 * 3_600_000)
    assert.equal(await get(), undefined)
    const again = await askFor(cluster, cluster.client, 'system:node:n1')
    assert.notEqual(again?.metadata.uid, made?.metadata.uid)
    const condition = { type: 'Denied', status: 'True', reason: 'Test', message: 'test' }
    const approval = cluster.client.subresource(CertificateSigningRequest, key, 'approval')
    await cluster.run(approval.update({ ...again, status: { conditions: [condition] } }))
    await cluster.advance(1_800_000)
    assert.ok(await get())
    await cluster.advance(2_400_000)
    assert.equal(await get(), undefined)
  })
})

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
  it('are deleted when they expire', async () => {
    await using cluster = await clusterWith(createTokenCleanerController())
    await createToken(cluster, 60_000)
    await cluster.advance(50_000)
    assert.ok(await cluster.run(cluster.client.get(Secret, tokenKey)))
    await cluster.advance(20_000)
    assert.equal(await cluster.run(cluster.client.get(Secret, tokenKey)), undefined)
  })

  it('sign what everybody may know of the cluster, as long as they last', async () => {
    const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest()
    await using cluster = await clusterWith(createBootstrapSignerController(hmac))
    const info = { namespace: 'kube-public', name: 'cluster-info' }
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

describe('ranges of service addresses', () => {
  const controllers = () => [createServiceCidrController()]

  it('are ready, and stay while an address is only theirs', () =>
    playWithCrashes({
      name: 'ranges that are in use',
      controllers,
      act: async cluster => {
        await createRange(cluster, 'used', '192.0.2.0/28')
        await createRange(cluster, 'free', '198.51.100.0/28')
        await cluster.advance(3_000)
        await createAddress(cluster, '192.0.2.5')
        await cluster.advance(1_000)
        await cluster.run(cluster.client.delete(ServiceCIDR, { name: 'used' }))
        await cluster.advance(3_000)
      },
      look: describeRanges,
      end: ['free True', 'used False Terminating'],
    }))

  it('go when another range takes over, or the address does', async () => {
    await using cluster = await clusterWith(...controllers())
    await createRange(cluster, 'a', '192.0.2.0/28')
    await createRange(cluster, 'b', '198.51.100.0/28')
    await createAddress(cluster, '192.0.2.5')
    await createAddress(cluster, '198.51.100.5')
    await cluster.advance(1_000)
    for (const name of ['a', 'b']) await cluster.run(cluster.client.delete(ServiceCIDR, { name }))
    await cluster.advance(15_000)
    assert.deepEqual(await describeRanges(cluster), ['a False Terminating', 'b False Terminating'])
    await createRange(cluster, 'wide', '192.0.2.0/24')
    await cluster.run(cluster.client.delete(IPAddress, { name: '198.51.100.5' }))
    await cluster.advance(15_000)
    assert.deepEqual(await describeRanges(cluster), ['wide True'])
  })
})

describe('the local-path provisioner', () => {
  it('removes the folders of volumes that it made, and no others', async () => {
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
