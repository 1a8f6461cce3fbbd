import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import {
  type CertificateIssuer,
  createCertificateSigningController,
  type RequestedCertificate,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { createCertificate, createCertificateRequest, generateKey } from '@coxswain/wire/node'

const clients = 'kubernetes.io/kube-apiserver-client'
const nodes = 'kubernetes.io/kube-apiserver-client-kubelet'
type KeyUsage = NonNullable<CertificateSigningRequest['spec']['usages']>[number]
const serving = 'kubernetes.io/kubelet-serving'
const kubelet: RequestedCertificate = {
  commonName: 'system:node:n',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
}
const clientUsages = ['digital signature', 'client auth'] as const
const servingUsages = ['digital signature', 'server auth'] as const
const { certificate } = createCertificate(
  { subject: { commonName: 'x' }, usages: ['client'], notBefore: 0, notAfter: Date.parse('2040-01-01') },
  new VirtualWorld().random,
)

async function start(issuer: Partial<CertificateIssuer> = {}) {
  const cluster = await startCluster({ env: new VirtualWorld(), controllers: false })
  const signed: (number | undefined)[] = []
  cluster.start(
    createCertificateSigningController({
      read: () => kubelet,
      sign: (_request, { seconds }) => {
        signed.push(seconds)
        return certificate
      },
      ...issuer,
    }),
  )
  const key = { name: 'r' }
  const request = btoa(
    createCertificateRequest({ commonName: 'system:node:n', organizations: ['system:nodes'] }, generateKey()),
  )
  const get = () => cluster.run(cluster.client.get(CertificateSigningRequest, key))
  return Object.assign(cluster, {
    signed,
    get,
    async ask(spec: { signerName: string; usages?: KeyUsage[]; expirationSeconds?: number }) {
      await cluster.run(
        cluster.client.create(CertificateSigningRequest, {
          metadata: key,
          spec: { request, usages: ['client auth'], ...spec },
        }),
      )
      await cluster.settle()
    },
    async decide(type: 'Approved' | 'Denied') {
      const present = await get()
      const approval = cluster.client.subresource(CertificateSigningRequest, key, 'approval')
      const condition = { type, status: 'True', reason: 'Test', message: 'test' }
      await cluster.run(approval.update({ ...present, status: { conditions: [condition] } }))
      await cluster.settle()
    },
  })
}

describe('createCertificateSigningController', () => {
  it('signs approved requests, and nothing else', async () => {
    await using cluster = await start()
    await cluster.ask({ signerName: clients, expirationSeconds: 900 })
    assert.equal((await cluster.get())?.status?.certificate, undefined)
    await cluster.decide('Approved')
    assert.deepEqual(cluster.signed, [900])
    assert.equal(atob((await cluster.get())!.status!.certificate!), certificate)
  })

  it('signs serving certificates of kubelets, with the usages of the request', async () => {
    const signed: unknown[] = []
    await using cluster = await start({
      read: () => ({ ...kubelet, dnsNames: ['n'] }),
      sign: (_request, options) => {
        signed.push(options)
        return certificate
      },
    })
    await cluster.ask({ signerName: serving, usages: [...servingUsages] })
    await cluster.decide('Approved')
    assert.deepEqual(signed, [{ usages: servingUsages }])
  })

  it('signs no request that is denied or for another signer', async () => {
    await using denied = await start()
    await denied.ask({ signerName: clients })
    await denied.decide('Denied')
    await using other = await start()
    await other.ask({ signerName: 'example.com/signer' })
    await other.decide('Approved')
    assert.deepEqual([...denied.signed, ...other.signed], [])
  })

  for (const [what, signerName, read, usages, message] of [
    ['another usage', clients, {}, ['server auth'], 'invalid usage for client certificate: server auth'],
    [
      'a node of another organization',
      nodes,
      { organizations: ['system:masters'] },
      clientUsages,
      'subject organization is not system:nodes',
    ],
    [
      'a node with another name',
      nodes,
      { commonName: 'root' },
      clientUsages,
      'subject common name does not begin with system:node:',
    ],
    ['a node with a host', nodes, { dnsNames: ['n'] }, clientUsages, 'DNS subjectAltNames are not allowed'],
    [
      'a node with an address',
      nodes,
      { ipAddresses: ['::1'] },
      clientUsages,
      'IP subjectAltNames are not allowed',
    ],
    [
      'a node without a signature',
      nodes,
      {},
      ['client auth'],
      'usages did not match [client auth digital signature key encipherment]',
    ],
    ['a kubelet without a host', serving, {}, servingUsages, 'DNS or IP subjectAltName is required'],
    [
      'a kubelet with a mail address',
      serving,
      { dnsNames: ['n'], emailAddresses: ['a@b'] },
      servingUsages,
      'Email subjectAltNames are not allowed',
    ],
    [
      'a kubelet that wants to be a client',
      serving,
      { dnsNames: ['n'] },
      clientUsages,
      'usages did not match [digital signature key encipherment server auth]',
    ],
    [
      'a server that is not a kubelet',
      serving,
      { dnsNames: ['n'], commonName: 'root' },
      servingUsages,
      'subject common name does not begin with system:node:',
    ],
  ] as const) {
    it(`rejects ${what} permanently`, async () => {
      const about = {
        ...kubelet,
        ...read,
      }
      await using cluster = await start({ read: () => about })
      await cluster.ask({ signerName, usages: [...usages] })
      await cluster.decide('Approved')
      const failed = (await cluster.get())?.status?.conditions?.find(({ type }) => type === 'Failed')
      assert.equal(failed?.message, message)
      assert.deepEqual(cluster.signed, [])
    })
  }
})

describe('certificate signing, with faults injected into its controller', () => {
  const key = { name: 'r' }
  const subject = { commonName: 'system:node:n', organizations: ['system:nodes'] }
  const request = btoa(createCertificateRequest(subject, generateKey()))
  const scenario = scenariosOf('certificatesigningrequest-signing-controller', {
    controllers: () => [
      createCertificateSigningController({
        read: () => kubelet,
        sign: () => certificate,
      }),
    ],
    look: async cluster => {
      const { status } = (await cluster.run(cluster.client.get(CertificateSigningRequest, key)))!
      return [
        status?.certificate && atob(status.certificate),
        ...(status?.conditions ?? []).map(each => each.type),
      ]
    },
  })
  const askAndDecide = async (
    cluster: Cluster,
    type: 'Approved' | 'Denied',
    usage: 'client auth' | 'server auth' = 'client auth',
  ) => {
    const spec = { request, usages: [usage], signerName: clients }
    const made = await cluster.run(cluster.client.create(CertificateSigningRequest, { metadata: key, spec }))
    await cluster.advance(5_000)
    const approval = cluster.client.subresource(CertificateSigningRequest, key, 'approval')
    const condition = { type, status: 'True', reason: 'Test', message: 'test' }
    await cluster.run(approval.update({ ...made, status: { conditions: [condition] } }))
  }

  scenario('issues approved certificates', {
    act: cluster => askAndDecide(cluster, 'Approved'),
    end: [certificate, 'Approved'],
  })

  scenario('issues no denied certificate', {
    act: cluster => askAndDecide(cluster, 'Denied'),
    end: [undefined, 'Denied'],
  })

  scenario('reports permanently what it cannot sign', {
    act: cluster => askAndDecide(cluster, 'Approved', 'server auth'),
    end: [undefined, 'Approved', 'Failed'],
  })
})
