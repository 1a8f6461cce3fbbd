import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv, type Tracer } from '@coxswain/kit'
import { collectTraces, treeOf } from '@coxswain/testing/test-support/traces'
import { createInProcessTransport, discardBody } from '@coxswain/wire'
import { AlwaysOffSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace'
import { allow, register, serveHooks, startServer } from '../admission/test-support/server.ts'
import { pipelines } from '../write/pipeline.ts'

const configmaps = '/api/v1/namespaces/default/configmaps'
const traceId = 'a'.repeat(32)
const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`
const developer = { commonName: 'jane', organizations: ['devs'], notAfter: Number.MAX_SAFE_INTEGER }

const startTraced = (tracer: Tracer) => startServer({ env: { ...createRealEnv(), tracer } })
type TracedServer = Awaited<ReturnType<typeof startTraced>>

/** A request of a user who is no administrator. */
const sendAsDeveloper = async ({ env, handler, signal }: TracedServer) => {
  const transport = createInProcessTransport(handler, env, { peer: developer })
  const request = { method: 'GET', path: '/version', query: '', headers: { traceparent }, signal }
  await discardBody((await transport.send(request)).body)
}

describe('the span of a request', () => {
  it('continues the trace of an administrator, with the filters as children and the steps of the write as events', async () => {
    const traces = collectTraces()
    await using server = await startTraced(traces.tracer)
    await server.must('POST', `${configmaps}?fieldManager=me`, { metadata: { name: 'a' } }, { traceparent })
    const span = traces.named('POST /api/v1/namespaces/{:namespace}/configmaps')!
    assert.equal(span.spanContext().traceId, traceId)
    assert.equal(span.parentSpanContext?.spanId, 'b'.repeat(16))
    assert.deepEqual(treeOf(traces.spans(), span).slice(1), [
      '  authenticate',
      '  impersonate',
      '  limit in flight',
      '  priority and fairness',
      '  wait for start',
      '  authorize',
      '  receive body',
      '  Create',
    ])
    const { 'audit-id': auditId, ...attributes } = span.attributes
    assert.match(String(auditId), /^[0-9a-f-]{36}$/)
    assert.deepEqual(attributes, {
      'http.request.method': 'POST',
      'url.path': configmaps,
      'http.target': `${configmaps}?fieldManager=me`,
      'client.address': '127.0.0.1',
      'http.response.status_code': 201,
    })
    const steps = traces.named('Create')?.events.map(({ name }) => name)
    assert.deepEqual(
      steps,
      pipelines.create.map(({ name }) => name),
    )
  })

  it('has the steps of updates and deletions, and ends with the store', async () => {
    const traces = collectTraces()
    await using server = await startTraced(traces.tracer)
    await server.must('POST', configmaps, { metadata: { name: 'a' } })
    await server.must('PATCH', `${configmaps}/a`, { data: { a: 'b' } })
    await server.must('DELETE', `${configmaps}/a`)
    for (const [name, steps] of [
      ['Patch', pipelines.patch],
      ['Delete', pipelines.delete],
    ] as const) {
      const events = traces.named(name)?.events.map(event => event.name)
      assert.deepEqual(events, [...steps.map(step => step.name), 'store'])
    }
  })

  it('is a trace of its own for any other client, linked to that of the client', async () => {
    const traces = collectTraces()
    await using server = await startTraced(traces.tracer)
    await sendAsDeveloper(server)
    const [span] = traces.spans().filter(({ name }) => name === 'GET')
    assert.equal(span?.parentSpanContext, undefined)
    assert.notEqual(span?.spanContext().traceId, traceId)
    assert.equal(span?.links[0]?.context.traceId, traceId)
  })

  it('is sampled when an administrator says so, not when another client does', async () => {
    const sampler = new ParentBasedSampler({ root: new AlwaysOffSampler() })
    const traces = collectTraces(undefined, { sampler })
    await using server = await startTraced(traces.tracer)
    await sendAsDeveloper(server)
    assert.equal(traces.spans().length, 0)
    await server.must('GET', '/version', undefined, { traceparent })
    assert.ok(traces.named('GET'))
  })

  it('names the status of a rejected request, which is no error of the server', async () => {
    const traces = collectTraces()
    await using server = await startTraced(traces.tracer)
    await server.send('GET', `${configmaps}/missing`)
    const span = traces.named('GET /api/v1/namespaces/{:namespace}/configmaps/{:name}')
    assert.equal(span?.attributes['http.response.status_code'], 404)
    assert.equal(span?.status.code, 0)
  })

  it('lasts as long as a watch does', async () => {
    const traces = collectTraces()
    await using server = await startTraced(traces.tracer)
    const transport = createInProcessTransport(server.handler, server.env, {
      peer: { ...developer, organizations: ['system:masters'] },
    })
    const name = 'GET /api/v1/namespaces/{:namespace}/configmaps'
    const { body } = await transport.send({
      method: 'GET',
      path: configmaps,
      query: 'watch=true',
      headers: {},
      signal: server.signal,
    })
    assert.equal(traces.named(name), undefined)
    await discardBody(body)
    while (!traces.named(name)) await server.env.clock.sleep(1)
  })
})

describe('the span of a webhook', () => {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]

  it('is part of the request, and the webhook receives its traceparent', async () => {
    const traces = collectTraces()
    await using hooks = await serveHooks({ '/hook': () => allow })
    await using server = await startTraced(traces.tracer)
    for (const type of ['Mutating', 'Validating'] as const)
      await register(server, type, 'hook', [{ clientConfig: hooks.clientConfig('/hook'), rules }])
    await server.must('POST', configmaps, { metadata: { name: 'a' } }, { traceparent })
    const spans = ['mutating', 'validating'].map(type => traces.named(`Call ${type} webhook`)!)
    const create = traces
      .spans()
      .find(
        ({ name, attributes }) =>
          name === 'Create' && attributes.name === '' && attributes.resource === 'configmaps',
      )
    for (const [index, span] of spans.entries()) {
      assert.equal(span.parentSpanContext?.spanId, create?.spanContext().spanId)
      const { headers } = hooks.requests[index]!.wire
      assert.equal(headers.traceparent, `00-${traceId}-${span.spanContext().spanId}-01`)
    }
    assert.deepEqual(spans[1]?.attributes, {
      configuration: 'hook',
      webhook: 'hook.example.com',
      resource: 'configmaps',
      subresource: '',
      operation: 'CREATE',
      'http.response.status_code': 200,
    })
  })

  it('is not made without a tracer, but the trace of the client is passed on', async () => {
    await using hooks = await serveHooks({ '/hook': () => allow })
    await using server = await startServer()
    await register(server, 'Validating', 'hook', [{ clientConfig: hooks.clientConfig('/hook'), rules }])
    await server.must('POST', configmaps, { metadata: { name: 'a' } }, { traceparent, tracestate: 'v=1' })
    const { headers } = hooks.requests[0]!.wire
    assert.deepEqual([headers.traceparent, headers.tracestate], [traceparent, 'v=1'])
  })

  it('has nothing huge or malformed in its headers: a client cannot make a webhook that may fail be skipped', async () => {
    await using hooks = await serveHooks({ '/hook': () => allow })
    await using server = await startServer()
    const hook = { clientConfig: hooks.clientConfig('/hook'), rules, failurePolicy: 'Ignore' }
    await register(server, 'Validating', 'hook', [hook])
    const huge = 'x'.repeat(900_000)
    for (const [index, sent] of [
      { traceparent, tracestate: huge, baggage: huge },
      { traceparent: huge },
      { traceparent: 'garbage', tracestate: 'v=1' },
    ].entries()) {
      await server.must('POST', configmaps, { metadata: { name: `c${index}` } }, sent)
      assert.equal(hooks.requests.length, index + 1)
      const { headers } = hooks.requests[index]!.wire
      const expected = sent.traceparent === traceparent ? traceparent : undefined
      assert.deepEqual(
        [headers.traceparent, headers.tracestate, headers.baggage],
        [expected, undefined, undefined],
      )
    }
  })
})
