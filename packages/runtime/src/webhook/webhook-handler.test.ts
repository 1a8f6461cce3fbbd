import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { newConflict } from '@coxswain/apimachinery/status'
import { createLogger, createRealEnv, type LogRecord, type Tracer } from '@coxswain/kit'
import { collectTraces } from '@coxswain/testing/test-support/traces'
import type { Handler } from '@coxswain/wire'
import { MetricsRegistry } from '../metrics/registry.ts'
import { defineOperator, describeOperator, type OperatorBuilder } from '../operator.ts'
import type { OperatorClient } from '../operator-client.ts'
import { type Widget, widgetKind } from '../test-support/simulation.ts'
import type { AdmissionContext } from './admission.ts'
import { admissionPath, createWebhookHandler } from './webhook-handler.ts'

interface OldWidget extends ApiObject {
  spec: { width: number; height: number }
}
const oldKind: Kind<OldWidget> = { ...(widgetKind as Kind), version: 'v1beta1' } as Kind<OldWidget>
const oldestKind: Kind<OldWidget> = { ...(widgetKind as Kind), version: 'v1alpha1' } as Kind<OldWidget>

function launch(setup: (operator: OperatorBuilder) => void, tracer?: Tracer) {
  const logs: LogRecord[] = []
  const env = { ...createRealEnv(createLogger(record => logs.push(record))), ...(tracer && { tracer }) }
  const metrics = new MetricsRegistry()
  const { webhooks: definitions } = describeOperator(defineOperator('widgets', setup))
  const clientFor = () => ({}) as OperatorClient
  return { handler: createWebhookHandler({ definitions, env, metrics, clientFor }), metrics, logs }
}

const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1 } }

async function post(handler: Handler, path: string, body: unknown, headers = {}) {
  const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
  const response = await handler({
    method: 'POST',
    path,
    query: 'timeout=10s',
    headers: { 'content-type': 'application/json', ...headers },
    body: bytes,
    signal: new AbortController().signal,
  })
  const text = new TextDecoder().decode(response.body as Uint8Array)
  return { status: response.status, text, json: () => JSON.parse(text) }
}

async function review(handler: Handler, verb: 'mutate' | 'validate', request: object = {}) {
  const answer = await post(handler, admissionPath(verb, widgetKind), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u1', operation: 'CREATE', name: 'a', namespace: 'default', object: widget, ...request },
  })
  assert.equal(answer.status, 200, answer.text)
  const { apiVersion, kind, response } = answer.json()
  assert.deepEqual([apiVersion, kind], ['admission.k8s.io/v1', 'AdmissionReview'])
  assert.equal(response.uid, 'u1')
  return {
    ...response,
    patch: response.patch && JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')),
  }
}

describe('paths', () => {
  it("are controller-runtime's", () => {
    const pod = { ...widgetKind, group: '', kind: 'Pod' } as Kind
    assert.equal(admissionPath('mutate', pod), '/mutate--v1-pod')
    const ingress = { ...widgetKind, group: 'networking.k8s.io', kind: 'Ingress' } as Kind
    assert.equal(admissionPath('validate', ingress), '/validate-networking-k8s-io-v1-ingress')
  })
})

describe('a defaulting webhook', () => {
  it('answers with a JSON patch of what was changed in place', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).default(object => {
        object.spec.size = 5
        object.metadata.labels = { 'example.com/grün': 'ja' }
      })
    })
    const { allowed, patch, patchType } = await review(handler, 'mutate')
    assert.equal(allowed, true)
    assert.equal(patchType, 'JSONPatch')
    assert.deepEqual(
      patch,
      [
        { op: 'replace', path: '/spec/size', value: 5 },
        { op: 'add', path: '/metadata/labels', value: { 'example.com/grün': 'ja' } },
      ].reverse(),
    )
  })

  it('answers with a patch to the object that was returned', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).default(object => ({ ...object, spec: { size: 9 } }))
    })
    assert.deepEqual((await review(handler, 'mutate')).patch, [
      { op: 'replace', path: '/spec/size', value: 9 },
    ])
  })

  it('has no patch when nothing was changed, or for a deletion', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).default(() => {})
    })
    const nothing = { uid: 'u1', allowed: true, patch: undefined }
    const deletion = { operation: 'DELETE', object: null, oldObject: widget }
    for (const request of [{}, deletion]) {
      const { status, ...rest } = await review(handler, 'mutate', request)
      assert.deepEqual(rest, nothing)
      assert.equal(status.code, 200)
    }
  })
})

describe('a validating webhook', () => {
  it('gets the operation, the user, and whether it is a dry run', async () => {
    let seen: Partial<AdmissionContext> = {}
    let operations = ''
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).validate(({ operation, object, oldObject, context }) => {
        operations += `${operation} ${object?.spec.size} ${oldObject?.spec.size};`
        seen = context
      })
    })
    await review(handler, 'validate', {
      dryRun: true,
      userInfo: { username: 'jane', groups: ['captains'] },
      subResource: 'scale',
      requestKind: { group: 'example.com', version: 'v1beta1', kind: 'Widget' },
      options: { fieldManager: 'me' },
    })
    assert.equal(seen.dryRun, true)
    assert.deepEqual(seen.user, { username: 'jane', groups: ['captains'] })
    assert.deepEqual([seen.name, seen.namespace, seen.subresource], ['a', 'default', 'scale'])
    assert.equal(seen.requestKind?.version, 'v1beta1')
    assert.deepEqual(seen.options, { fieldManager: 'me' })
    await review(handler, 'validate', { operation: 'UPDATE', oldObject: { ...widget, spec: { size: 2 } } })
    await review(handler, 'validate', { operation: 'DELETE', object: null, oldObject: widget })
    assert.equal(seen.dryRun, false)
    assert.equal(operations, 'CREATE 1 undefined;UPDATE 1 2;DELETE undefined 1;')
  })

  it('denies with a sentence, or with an error for each field', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).validate(({ object }) => {
        if (object?.spec.size === 1) return 'widgets of size one are sold out'
        return [field.invalid(field.Path.of('spec', 'size'), object?.spec.size, 'is odd')]
      })
    })
    const refused = await review(handler, 'validate')
    assert.equal(refused.allowed, false)
    assert.deepEqual(
      [refused.status.code, refused.status.reason, refused.status.message],
      [403, 'Forbidden', 'widgets of size one are sold out'],
    )
    const invalid = await review(handler, 'validate', { object: { ...widget, spec: { size: 3 } } })
    assert.deepEqual([invalid.allowed, invalid.status.code, invalid.status.reason], [false, 422, 'Invalid'])
    assert.deepEqual(invalid.status.details.causes, [
      { reason: 'FieldValueInvalid', message: 'Invalid value: 3: is odd', field: 'spec.size' },
    ])
  })

  it('answers with the StatusError that was thrown', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).validate(() => {
        throw newConflict({ group: 'example.com', resource: 'widgets' }, 'a', 'not now')
      })
    })
    const { allowed, status } = await review(handler, 'validate')
    assert.deepEqual([allowed, status.code, status.reason], [false, 409, 'Conflict'])
  })

  it('warns, and writes to the audit log', async () => {
    const { handler } = launch(operator => {
      operator.webhook(widgetKind).validate(({ context }) => {
        context.warn('spec.size is deprecated')
        context.warn('so is everything else')
        context.audit('checked', 'yes')
      })
    })
    const { allowed, warnings, auditAnnotations } = await review(handler, 'validate')
    assert.equal(allowed, true)
    assert.deepEqual(warnings, ['spec.size is deprecated', 'so is everything else'])
    assert.deepEqual(auditAnnotations, { checked: 'yes' })
  })

  it('contains errors, hides them from the client, and continues', async () => {
    let broken = true
    const { handler, metrics, logs } = launch(operator => {
      operator.webhook(widgetKind).validate(() => {
        if (broken) throw new TypeError('undefined is not a secret')
      })
    })
    const { allowed, status } = await review(handler, 'validate')
    assert.deepEqual([allowed, status.code, status.reason], [false, 500, 'InternalError'])
    assert.doesNotMatch(status.message, /secret/)
    assert.ok(logs.some(({ message }) => message === 'a webhook threw'))
    assert.match(metrics.text(), /^controller_runtime_webhook_panics_total 1$/m)
    broken = false
    assert.equal((await review(handler, 'validate')).allowed, true)
  })
})

describe('a malformed review', () => {
  const { handler, metrics } = launch(operator => {
    operator.webhook(widgetKind).validate(() => {})
  })
  const path = admissionPath('validate', widgetKind)
  const good = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u' } }
  const bad: readonly [name: string, body: unknown, status: number, headers?: object][] = [
    ['nothing', '', 400],
    ['no JSON', '{', 400],
    ['another kind', { ...good, kind: 'Pod' }, 400],
    ['an old version', { ...good, apiVersion: 'admission.k8s.io/v1beta1' }, 400],
    ['no request', { ...good, request: null }, 400],
    ['no uid', { ...good, request: {} }, 400],
    ['another content type', good, 415, { 'content-type': 'application/yaml' }],
  ]
  for (const [name, body, status, headers] of bad) {
    it(`is answered with ${status}: ${name}`, async () => {
      assert.equal((await post(handler, path, body, headers)).status, status)
    })
  }

  it('is answered with 404, 405 and 413 for other paths, methods and sizes', async () => {
    const signal = new AbortController().signal
    const request = { method: 'POST', path, query: '', headers: {}, signal }
    assert.equal((await handler({ ...request, path: '/convert' })).status, 404)
    assert.equal((await handler({ ...request, method: 'GET' })).status, 405)
    assert.equal((await handler({ ...request, bodyTooLarge: true })).status, 413)
  })

  it('is counted by status', async () => {
    await review(handler, 'validate')
    const text = metrics.text()
    assert.match(
      text,
      /^controller_runtime_webhook_requests_total\{webhook="\/validate-example-com-v1-widget",code="400"\} 6$/m,
    )
    assert.match(text, /^controller_runtime_webhook_requests_total\{.*code="200"\} 1$/m)
    assert.match(text, /^controller_runtime_webhook_requests_total\{.*code="500"\} 0$/m)
    assert.match(
      text,
      /^controller_runtime_webhook_requests_in_flight\{webhook="\/validate-example-com-v1-widget"\} 0$/m,
    )
    assert.match(text, /^controller_runtime_webhook_latency_seconds_bucket\{.*le="1e-8"\} \d+$/m)
    assert.doesNotMatch(text, /webhook="\/convert"/)
  })
})

describe('conversion', () => {
  const { handler, metrics } = launch(operator => {
    operator
      .webhook(widgetKind)
      .convert(oldKind, {
        to: ({ spec, metadata }) => {
          if (spec.size < 0) throw new RangeError('negative')
          const kept = metadata.annotations?.width
          const width = kept === undefined ? spec.size : Number(kept)
          return { spec: { width, height: spec.size / width } }
        },
        from: ({ spec, metadata }) => ({
          spec: { size: spec.width * spec.height },
          metadata: { annotations: { ...metadata.annotations, width: String(spec.width) } },
        }),
      })
      .convert(oldestKind, {
        to: ({ spec }) => ({ spec: { width: spec.size, height: 1 } }),
        from: ({ spec }) => ({ spec: { size: spec.width } }),
      })
  })
  const convert = async (desiredAPIVersion: string, ...objects: object[]) => {
    const { status, json } = await post(handler, '/convert', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'u2', desiredAPIVersion, objects },
    })
    assert.equal(status, 200)
    const { apiVersion, kind, response } = json()
    assert.deepEqual([apiVersion, kind, response.uid], ['apiextensions.k8s.io/v1', 'ConversionReview', 'u2'])
    return response
  }
  const old = {
    apiVersion: 'example.com/v1beta1',
    kind: 'Widget',
    metadata: { name: 'b', uid: 'x', resourceVersion: '7', finalizers: ['f'] },
    spec: { width: 2, height: 3 },
  }

  it('returns every object in the desired version, with its metadata', async () => {
    const { convertedObjects, result } = await convert('example.com/v1', old, widget)
    assert.equal(result.status, 'Success')
    assert.deepEqual(convertedObjects, [
      {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { ...old.metadata, annotations: { width: '2' } },
        spec: { size: 6 },
      },
      widget,
    ])
  })

  it('loses nothing in a round trip', async () => {
    const there = await convert('example.com/v1', old)
    const back = await convert('example.com/v1beta1', there.convertedObjects[0])
    assert.deepEqual(back.convertedObjects[0].spec, old.spec)
  })

  it('chains conversions through the version in the middle', async () => {
    const { convertedObjects } = await convert('example.com/v1alpha1', old)
    assert.equal(convertedObjects[0].apiVersion, 'example.com/v1alpha1')
    assert.deepEqual(convertedObjects[0].spec, { width: 6, height: 1 })
  })

  it('fails as a whole when one object cannot be converted', async () => {
    const bad = { ...widget, spec: { size: -1 } }
    const { convertedObjects, result } = await convert('example.com/v1beta1', widget, bad)
    assert.deepEqual([convertedObjects, result.status], [[], 'Failure'])
    assert.match(result.message, /Widget \/a cannot be converted to example.com\/v1beta1: negative/)
    assert.match(metrics.text(), /^controller_runtime_conversion_webhook_panics_total 1$/m)
  })

  it('fails for unknown kinds, versions and groups', async () => {
    const failures = [
      await convert('example.com/v9', widget),
      await convert('other.com/v1', widget),
      await convert('example.com/v1beta1', { ...widget, kind: 'Gadget' }),
      await convert('example.com/v1', { spec: {} }),
    ]
    for (const { result } of failures) assert.equal(result.status, 'Failure')
  })
})

describe('definitions', () => {
  it('rejects inconsistent webhooks', () => {
    const twice = (setup: (operator: OperatorBuilder) => void) => () => launch(setup)
    const code = { code: 'BadDefinition' }
    assert.throws(
      twice(operator => {
        operator.webhook(widgetKind)
        operator.webhook(widgetKind)
      }),
      code,
    )
    assert.throws(
      twice(operator =>
        operator
          .webhook(widgetKind)
          .default(() => {})
          .default(() => {}),
      ),
      code,
    )
    const other = { ...widgetKind, kind: 'Gadget' } as Kind<Widget>
    const same = { to: (object: Widget) => object, from: (object: Widget) => object }
    assert.throws(
      twice(operator => operator.webhook(widgetKind).convert(other, same)),
      code,
    )
  })
})

describe('the span of a review', () => {
  it('is in the trace of the API server that asks', async () => {
    const traces = collectTraces()
    const { handler } = launch(
      operator => operator.webhook(widgetKind).validate(() => undefined),
      traces.tracer,
    )
    const path = admissionPath('validate', widgetKind)
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await post(handler, path, {}, { traceparent })
    const [span] = traces.spans()
    assert.equal(span?.name, `POST ${path}`)
    assert.equal(span.spanContext().traceId, 'a'.repeat(32))
    assert.equal(span.parentSpanContext?.spanId, 'b'.repeat(16))
    assert.equal(typeof span.attributes['http.response.status_code'], 'number')
  })
})
