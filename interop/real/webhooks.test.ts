import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@coxswain/api/admissionregistration/v1'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Namespace, Pod, Service, ServiceAccount } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import { isAlreadyExists, isForbidden, isInvalid } from '@coxswain/apimachinery/status'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import type { WebhookOptions } from '@coxswain/runtime'
import { createCertificateMaker, createWebhookListener } from '@coxswain/runtime/node'
import app, { App } from '../../examples/03-app/operator.ts'
import sidecar, { annotation, configKey, namespaceLabel } from '../../examples/04-sidecar/operator.ts'
import { eventually, type Session, startSession } from './session.ts'

/** Over HTTPS on this machine, with a certificate of our own. */
function webhooksOf({ env }: Session): WebhookOptions {
  const listener = createWebhookListener({ ...env, port: 0 })
  return { listener, certificates: createCertificateMaker(env.random), removeOnStop: true }
}

const spec = { image: 'nginx', enable_service: true, enable_ingress: false }

describe('webhooks of an operator, asked by a real server', () => {
  it('examples/03-app defaults, validates and converts', async () => {
    await using session = await startSession('app')
    const { client, namespace } = session
    const stop = session.start(app, { namespaces: [namespace], webhooks: webhooksOf(session), install: {} })
    const key = { namespace, name: 'web' }
    await eventually('the server knows where versions are converted', async () => {
      const crd = await client.get(CustomResourceDefinition, { name: 'apps.ingress.example.com' })
      return crd?.spec.conversion?.strategy === 'Webhook'
    })
    await eventually('the webhooks are asked', async () => {
      const dry = await client.create(
        App.v1beta1,
        { metadata: { namespace, name: 'probe' }, spec },
        { dryRun: true },
      )
      return dry.spec.enable_ingress
    })
    const made = await client.create(App.v1beta1, { metadata: key, spec })
    assert.equal(made.spec.enable_ingress, true)
    const shown = await client.get(App.v1, key)
    assert.deepEqual(shown?.spec, { image: 'nginx', replicas: 1, expose: { service: true, ingress: true } })
    assert.equal((await client.list(App.v1, { namespace })).items[0]?.spec.expose.ingress, true)

    const bad = { namespace, name: 'bad' }
    const withoutService = { ...spec, enable_service: false }
    await assert.rejects(client.create(App.v1beta1, { metadata: bad, spec: withoutService }), error => {
      assert.ok(isInvalid(error))
      assert.match((error as Error).message, /spec\.enable_service: Invalid value: false: must be true/)
      return true
    })
    const other = { image: 'nginx', expose: { service: false, ingress: false } }
    await assert.rejects(
      client.create(App.v1, { metadata: bad, spec: other }),
      isInvalid,
      'in its other version, too',
    )

    await eventually('what it owns is there', async () => {
      const found = await Promise.all([Deployment, Service, Ingress].map(kind => client.get(kind, key)))
      return found.every(object => object !== undefined)
    })
    await client.delete(App.v1beta1, key)
    await stop()
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as const) {
      assert.equal(await client.get(kind, { name: 'app' }), undefined, 'nothing is left behind')
    }
  })

  it('examples/04-sidecar adds containers and volumes, and refuses what it cannot read', async () => {
    await using session = await startSession('sidecar')
    const { client, namespace } = session
    const stop = session.start(sidecar, { webhooks: webhooksOf(session) })
    await client.patch(Namespace, { name: namespace }, { metadata: { labels: namespaceLabel } })
    await eventually('pods may be made', () => client.get(ServiceAccount, { namespace, name: 'default' }))
    const create = (name: string) =>
      client.create(Pod, {
        metadata: { namespace, name },
        spec: { containers: [{ name: 'web', image: 'nginx' }] },
      })
    await client.create(Namespace, { metadata: { name: configKey.namespace } }).catch(error => {
      if (!isAlreadyExists(error)) throw error
    })
    const documents = [
      ...readYamlDocuments(readFileSync(new URL('../../examples/04-sidecar/sample.yaml', import.meta.url))),
    ]
    const config = documents.map(({ value }) => value as { kind: string; data?: Record<string, string> })
    const { data } = config.find(({ kind }) => kind === 'ConfigMap')!
    await client.create(ConfigMap, { metadata: configKey, data: data! })
    let tries = 0
    const pod = await eventually('a pod has its sidecar', async () => {
      const made = await create(`web-${tries++}`)
      return made.metadata.annotations?.[annotation] !== undefined && made
    })
    assert.deepEqual(pod.spec?.containers.map(({ name }) => name).sort(), ['envoy', 'web'])
    assert.ok(pod.spec?.volumes?.some(({ name }) => name === 'envoy-conf'))

    await client.patch(ConfigMap, configKey, { data: { config: 'hostNetwork: true' } })
    await eventually('a bad configuration is refused', async () => {
      try {
        await create(`bad-${tries++}`)
        return false
      } catch (error) {
        assert.ok(!isForbidden(error))
        return /has hostNetwork, which is nothing to add/.test((error as Error).message)
      }
    })
    await client.delete(ConfigMap, configKey)
    await stop()
  })
})
