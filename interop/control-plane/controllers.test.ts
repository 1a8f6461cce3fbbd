import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ValidatingAdmissionPolicy } from '@coxswain/api/admissionregistration/v1'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@coxswain/api/core/v1'
import { createCertificateRequest, generateKey } from '@coxswain/wire/node'
import { describeClusterLife, makeNamespace } from '../support/cluster-life.ts'
import { eventually } from '../support/eventually.ts'
import { readKubeconfig } from '../support/kubeconfig.ts'
import { ask, freePort } from './ask.ts'
import { unexplained } from './explained-lines.ts'
import { type Session, startSession } from './session.ts'

const nodes = 3

describe('the real kube-controller-manager and kube-scheduler on our server', () => {
  let session: Session
  let schedulerPort: number
  before(async () => {
    schedulerPort = await freePort()
    session = await startSession({ nodes, schedulerPort })
  })
  after(() => session[Symbol.asyncDispose]())

  describeClusterLife(() => ({ client: session.client, nodes }))

  it('are leaders', async () => {
    for (const name of ['kube-controller-manager', 'kube-scheduler'])
      await eventually(`${name} leads`, async () => {
        const lease = await session.client.get(Lease, { namespace: 'kube-system', name })
        return lease?.spec?.holderIdentity
      })
  })

  it('ask our server who may read their metrics', async () => {
    const { cert, key } = readKubeconfig(session.kubeconfig)
    const url = `https://127.0.0.1:${schedulerPort}`
    await eventually('it answers', async () => (await ask(`${url}/healthz`)).status === 200)
    assert.equal((await ask(`${url}/metrics`)).status, 403)
    // It learns from our server which CA to believe.
    const text = await eventually('the administrator may', async () => {
      const answer = await ask(`${url}/metrics`, { cert, key })
      return answer.status === 200 && answer.text
    })
    assert.match(text, /^scheduler_/m)
    const { client } = session
    const namespace = await makeNamespace(client, 'reader-')
    const token = (await client
      .subresource(ServiceAccount, { namespace, name: 'default' }, 'token')
      .create({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })) as {
      status?: { token?: string }
    }
    const denied = await ask(`${url}/metrics`, { token: token.status?.token ?? '' })
    assert.equal(denied.status, 403, denied.text)
    const { message } = JSON.parse(denied.text) as { message: string }
    const user = `system:serviceaccount:${namespace}:default`
    assert.equal(message, `forbidden: User "${user}" cannot get path "/metrics"`)
  })

  it('accounts have tokens that our server knows, and namespaces its CA', async () => {
    const { client, url } = session
    const namespace = await makeNamespace(client, 'account-')
    await client.create(Secret, {
      metadata: {
        namespace,
        name: 'token',
        annotations: { 'kubernetes.io/service-account.name': 'default' },
      },
      type: 'kubernetes.io/service-account-token',
    })
    const secret = await eventually('it is filled', async () => {
      const found = await client.get(Secret, { namespace, name: 'token' })
      return found?.data?.token !== undefined && found
    })
    const { ca } = readKubeconfig(session.kubeconfig)
    const token = Buffer.from(secret.data?.token ?? '', 'base64').toString()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const { text } = await ask(url + path, { ca, token, body: review })
    assert.equal(JSON.parse(text).status?.userInfo?.username, `system:serviceaccount:${namespace}:default`)
    assert.equal(Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString(), ca)
    const published = await eventually('the CA is published', () =>
      client.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }),
    )
    assert.equal(published.data?.['ca.crt'], ca)
  })

  it('certificates are signed, and let their users in', async () => {
    const { client, url } = session
    const key = generateKey()
    const request = createCertificateRequest({ commonName: 'jane', organizations: ['devs'] }, key)
    const created = await client.create(CertificateSigningRequest, {
      metadata: { generateName: 'jane-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    })
    const { name } = created.metadata
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' }
    await client
      .subresource(CertificateSigningRequest, { name }, 'approval')
      .update({ ...created, status: { conditions: [condition] } })
    const signed = await eventually('it is signed', async () => {
      const found = await client.get(CertificateSigningRequest, { name })
      return found?.status?.certificate
    })
    const { ca } = readKubeconfig(session.kubeconfig)
    const cert = Buffer.from(signed, 'base64').toString()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const { text } = await ask(url + path, { ca, cert, key, body: review })
    assert.equal(JSON.parse(text).status?.userInfo?.username, 'jane')
  })

  it('who may not, may not: the controllers go by their own accounts', async () => {
    const { client, url } = session
    const { cert, key, ca } = readKubeconfig(`${session.dataDir}/controller-manager.conf`)
    const refused = await ask(`${url}/api/v1/namespaces/default/pods`, { ca, cert, key, body: {} })
    assert.equal(refused.status, 403, refused.text)
    await eventually('they have accounts', () =>
      client.get(ServiceAccount, { namespace: 'kube-system', name: 'deployment-controller' }),
    )
  })

  it('policies are checked', async () => {
    const { client } = session
    await client.create(ValidatingAdmissionPolicy, {
      metadata: { name: 'plane-policy' },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['deployments'],
            },
          ],
        },
        validations: [{ expression: 'object.spec.replicas > "x"' }],
      },
    } as never)
    const checked = await eventually('its types are checked', async () => {
      const found = await client.get(ValidatingAdmissionPolicy, { name: 'plane-policy' })
      return (found?.status?.typeChecking?.expressionWarnings?.length ?? 0) > 0 && found
    })
    assert.match(
      checked.status?.typeChecking?.expressionWarnings?.[0]?.warning ?? '',
      /found no matching overload for '_>_' applied to '\(int, string\)'/,
    )
  })

  it('have no complaint about the server, and fall silent when nothing happens', async () => {
    const { client, controllerManager, scheduler } = session
    assert.deepEqual(unexplained(controllerManager.log), [])
    assert.deepEqual(unexplained(scheduler.log), [])
    const ours = async () =>
      (await client.list(Namespace)).items.filter(({ metadata }) => metadata.generateName !== undefined)
    for (const { metadata } of await ours()) await client.delete(Namespace, { name: metadata.name })
    await eventually('the namespaces are deleted', async () => (await ours()).length === 0, 90_000)
    await sleep(5_000)
    const said = controllerManager.log.length
    await sleep(15_000)
    const complaints = controllerManager.log.slice(said).filter(line => /^[EW]/.test(line))
    assert.deepEqual(complaints, [])
  })
})
