import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exporterUrl, readTracingConfiguration } from './tracing-configuration.ts'

const head = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n'

describe('a TracingConfiguration', () => {
  it('names the collector and how much is sampled, and has defaults for both', () => {
    assert.deepEqual(readTracingConfiguration(`${head}endpoint: c:4317\nsamplingRatePerMillion: 100\n`), {
      endpoint: 'c:4317',
      samplingRatePerMillion: 100,
    })
    assert.deepEqual(readTracingConfiguration(head), {
      endpoint: 'localhost:4317',
      samplingRatePerMillion: 0,
    })
  })

  it('is rejected in the words of kube-apiserver', () => {
    for (const [text, message] of [
      ['kind: Pod\napiVersion: v1\n', /no kind "Pod" is registered for version "v1"/],
      [`${head}endpoints: x\n`, /strict decoding error: unknown field "endpoints"/],
      [
        `${head}samplingRatePerMillion: -1\n`,
        /samplingRatePerMillion: Invalid value: -1: sampling rate must be positive/,
      ],
      [
        `${head}samplingRatePerMillion: 1000001\n`,
        /sampling rate per million must be less than or equal to one million/,
      ],
      [
        `${head}endpoint: http://c:4318\n`,
        /endpoint: Invalid value: "http:\/\/c:4318": unsupported scheme: http\. {2}Options are none, dns, unix, or unix-abstract/,
      ],
    ] as const)
      assert.throws(() => readTracingConfiguration(text), message)
  })

  it('gives exporters an address without TLS', () => {
    assert.equal(exporterUrl('c:4317'), 'http://c:4317')
    assert.equal(exporterUrl('dns:///c:4317'), 'http://c:4317')
    assert.equal(exporterUrl('unix:///run/otel.sock'), 'unix:///run/otel.sock')
  })
})
