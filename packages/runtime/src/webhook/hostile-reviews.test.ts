import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, createRealEnv } from '@coxswain/kit'
import { collectTraces } from '@coxswain/testing/test-support/traces'
import type { WireHeaders } from '@coxswain/wire'
import { MetricsRegistry } from '../metrics/registry.ts'
import { defineOperator, describeOperator } from '../operator.ts'
import type { OperatorClient } from '../operator-client.ts'
import { widgetKind } from '../test-support/simulation.ts'
import { admissionPath, createWebhookHandler } from './webhook-handler.ts'

const traces = collectTraces()
const metrics = new MetricsRegistry()
const seen: unknown[] = []
const definition = defineOperator('widgets', operator => {
  operator
    .webhook(widgetKind)
    .default(object => {
      object.spec.size += 1
    })
    .validate(({ object }) => {
      seen.push(object)
      return (object?.spec.size ?? 0) < 0 ? 'negative' : undefined
    })
    .convert(
      { ...widgetKind, version: 'v1beta1' },
      { to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) },
    )
})
const handler = createWebhookHandler({
  definitions: describeOperator(definition).webhooks,
  env: { ...createRealEnv(createLogger(() => {})), tracer: traces.tracer },
  metrics,
  clientFor: () => ({}) as OperatorClient,
})
const paths = {
  AdmissionReview: [admissionPath('mutate', widgetKind), admissionPath('validate', widgetKind)],
  ConversionReview: ['/convert'],
}
const apiVersions = { AdmissionReview: 'admission.k8s.io/v1', ConversionReview: 'apiextensions.k8s.io/v1' }

async function post(path: string, text: string, headers: WireHeaders = {}) {
  const response = await handler({
    method: 'POST',
    path,
    query: '',
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(text),
    signal: new AbortController().signal,
  })
  return { status: response.status, text: new TextDecoder().decode(response.body as Uint8Array) }
}

/** The request of a review as JSON text, sent to every path of its kind: 4xx, or an answer that allows nothing. */
async function refuses(kind: keyof typeof paths, request: string): Promise<void> {
  const text = `{"apiVersion":"${apiVersions[kind]}","kind":"${kind}","request":${request}}`
  for (const path of paths[kind]) {
    const answer = await post(path, text)
    if (answer.status >= 400 && answer.status < 500) continue
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    const { allowed, result, uid } = JSON.parse(answer.text).response
    assert.equal(typeof uid, 'string')
    assert.ok(
      allowed === false || result?.status === 'Failure',
      `${path} ${request.slice(0, 80)}: ${answer.text}`,
    )
  }
}

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('a hostile review', () => {
  const bad = {
    'a uid that is an object': '{"uid":{"a":1}}',
    'a uid that is a list': '{"uid":["u"]}',
    'a request that is a list': '[]',
    'a request that is a string': '"u"',
    'a uid in __proto__': '{"__proto__":{"uid":"u"}}',
    'an object that is a number': '{"uid":"u","operation":"CREATE","object":7}',
    'an object that is a list': '{"uid":"u","operation":"CREATE","object":[]}',
    'a spec in __proto__': '{"uid":"u","operation":"CREATE","object":{"__proto__":{"spec":{"size":1}}}}',
    'members of the wrong type':
      '{"uid":"u","operation":{},"name":[],"namespace":{},"userInfo":"x","object":{"spec":null},"options":3,"dryRun":"no"}',
    'a deep object': `{"uid":"u","operation":"CREATE","object":${deep(100_000)}}`,
  }
  for (const [what, request] of Object.entries(bad))
    it(`is rejected: ${what}`, () => refuses('AdmissionReview', request))

  const badConversions = {
    'objects that are a number': '{"uid":"u","desiredAPIVersion":"example.com/v1","objects":7}',
    'objects that are an object': '{"uid":"u","desiredAPIVersion":"example.com/v1","objects":{}}',
    'an object that is null': '{"uid":"u","desiredAPIVersion":"example.com/v1","objects":[null]}',
    'a version that is an object':
      '{"uid":"u","desiredAPIVersion":{},"objects":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{}}]}',
    'a kind of Object.prototype':
      '{"uid":"u","desiredAPIVersion":"example.com/v1beta1","objects":[{"apiVersion":"example.com/v1","kind":"__proto__","metadata":{}}]}',
    'a deep object': `{"uid":"u","desiredAPIVersion":"example.com/v1","objects":[${deep(100_000)}]}`,
  }
  for (const [what, request] of Object.entries(badConversions))
    it(`is rejected for conversion: ${what}`, () => refuses('ConversionReview', request))

  it('does not change the prototype of anything', async () => {
    seen.length = 0
    const object =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"spec":{"size":1}}'
    const [, path] = paths.AdmissionReview
    const request = `{"uid":"u","operation":"CREATE","object":${object}}`
    await post(path!, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${request}}`)
    assert.equal(seen.length, 1)
    assert.equal(Object.getPrototypeOf(seen[0]), Object.prototype)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  })

  it('may have a trace context that is huge or garbage', async () => {
    const request = '{"uid":"u","operation":"CREATE","object":{"spec":{"size":1}}}'
    const text = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${request}}`
    const huge = 'x'.repeat(1_000_000)
    for (const headers of [
      { traceparent: huge, tracestate: huge, baggage: huge },
      { traceparent: '00-0-0-01', tracestate: '=,=,;', baggage: '\u0000' },
      { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01` },
      { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: huge },
      { traceparent: ['a', 'b'] },
    ])
      for (const path of paths.AdmissionReview) assert.equal((await post(path, text, headers)).status, 200)
    for (const span of traces.spans())
      assert.ok((span.spanContext().traceState?.serialize() ?? '').length <= 512, 'nothing huge is passed on')
  })

  it('adds no metric label of its own', async () => {
    for (let i = 0; i < 100; i++) assert.equal((await post(`/path-${i}`, '{}')).status, 404)
    assert.doesNotMatch(metrics.text(), /path-/)
  })
})
