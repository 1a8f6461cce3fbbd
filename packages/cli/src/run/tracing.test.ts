import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ValidatingWebhookConfiguration } from '@coxswain/api/admissionregistration/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import { createRealEnv } from '@coxswain/kit'
import { type ReceivedSpan, startCollector } from '../test-support/collector.ts'
import { launch, start } from '../test-support/commands.ts'

const runtime = import.meta.resolve('@coxswain/runtime')
const core = import.meta.resolve('@coxswain/api/core/v1')
const { clock } = createRealEnv()

const operator = `
import { ConfigMap } from '${core}'
import { defineOperator } from '${runtime}'
export default defineOperator('copier', operator => {
  operator.webhook(ConfigMap).validate(() => undefined)
  operator.controller('maps').for(ConfigMap).reconcile(async ({ key, client }) => {
    if (key.name !== 'original') return
    await client.create(ConfigMap, { metadata: { namespace: key.namespace, name: 'copy' } })
  })
})
`

const configuration = (port: number, rate: number) =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${port}\nsamplingRatePerMillion: ${rate}\n`

/** The spans that lead to one, outermost first. */
function pathTo(spans: readonly ReceivedSpan[], span: ReceivedSpan): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return [...(parent ? pathTo(spans, parent) : []), `${span.service}: ${span.name}`]
}

describe('--tracing-config-file', () => {
  it('sends one trace from the watch event of an operator through the API server to a webhook', async () => {
    await using collector = await startCollector()
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-tracing-'))
    using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
    const tracing = join(folder, 'tracing.yaml')
    // The server samples nothing by itself: what it sends is what the operator asked for.
    writeFileSync(tracing, configuration(collector.port, 0))
    await using cluster = await launch(
      '--storage',
      'memory',
      '--nodes',
      '0',
      '--tracing-config-file',
      tracing,
    )
    const file = cluster.file('operator.ts', operator)
    const sampled = cluster.file('sampled.yaml', configuration(collector.port, 1_000_000))
    await using running = cluster.run('--tracing-config-file', sampled, file)
    await running.prints(/running copier/)
    const { client } = cluster
    while ((await client.list(ValidatingWebhookConfiguration)).items.length === 0) await clock.sleep(20)
    const key = { namespace: 'default', name: 'copy' }
    await client.create(ConfigMap, { metadata: { ...key, name: 'original' } })
    while (!(await client.get(ConfigMap, key))) await clock.sleep(20)
    assert.equal(await running.stop(), 0)
    assert.equal(await cluster.up.stop(), 0)
    const answered = collector.spans.filter(({ name }) => name === 'POST /validate--v1-configmap')
    const paths = answered.map(span => pathTo(collector.spans, span))
    const expected = [
      'copier: process maps',
      'copier: reconcile maps',
      'copier: POST configmaps',
      'apiserver: POST /api/v1/namespaces/{:namespace}/configmaps',
      'apiserver: Create',
      'apiserver: Call validating webhook',
      'copier: POST /validate--v1-configmap',
    ]
    assert.ok(
      paths.some(path => path.join('\n') === expected.join('\n')),
      JSON.stringify(paths, undefined, 1),
    )
    assert.ok(collector.spans.every(({ traceId }) => traceId.length === 32))
  })

  it('refuses a file that is not there or not valid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-tracing-'))
    using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
    const bad = join(folder, 'bad.yaml')
    writeFileSync(bad, configuration(1, -1))
    const dataDir = join(folder, 'data')
    for (const [file, message] of [
      [join(folder, 'none.yaml'), /--tracing-config-file .*none\.yaml: does not exist/],
      ['/dev/zero', /--tracing-config-file \/dev\/zero: is larger than 16 MiB\n/],
      [bad, /bad\.yaml: failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1/],
    ] as const) {
      await using up = start('up', '--port', '0', '--data-dir', dataDir, '--tracing-config-file', file)
      assert.equal(await up.exited, 1)
      assert.match(up.output().stderr, message)
    }
  })
})

/** An operator that brings a provider of its own along, as an SDK started with `--import` would. */
const withProvider = `
import { trace } from '${import.meta.resolve('@opentelemetry/api')}'
import { SimpleSpanProcessor, TracerProvider } from '${import.meta.resolve('@opentelemetry/sdk-trace')}'
const exporter = {
  export: (spans, done) => {
    for (const { name } of spans) process.stdout.write('span ' + name + '\\n')
    done({ code: 0 })
  },
  shutdown: async () => {},
}
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
${operator}
`

describe('a provider that the process has registered', () => {
  it('receives the spans of operators without any flag', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    await using running = cluster.run(cluster.file('operator.ts', withProvider))
    await running.prints(/running copier/)
    const metadata = { namespace: 'default', name: 'other' }
    await cluster.client.create(ConfigMap, { metadata })
    await running.prints(/span process maps/)
    await running.prints(/span GET configmaps/)
  })
})
