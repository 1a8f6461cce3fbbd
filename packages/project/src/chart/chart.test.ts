import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isProjectError } from '../errors.ts'
import { planChart } from '../node/write-chart.ts'
import { type ChartInput, generateChart } from './generate-chart.ts'

const labels = { 'app.kubernetes.io/name': 'greeter' }
const named = (name: string) => ({ name: `greeter-${name}`, namespace: 'greeter-system', labels })

function input(replicas = 1): ChartInput {
  const container = {
    name: 'manager',
    image: 'registry.example.com:5000/greeter:1.0',
    args: [
      'run',
      'operator.ts',
      '--metrics-bind-address=:8443',
      '--webhook-service=greeter-system/greeter-webhook-service',
    ],
  }
  return {
    name: 'greeter',
    version: '1.0.0',
    objects: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'greetings.example.com' },
        spec: {
          versions: [{ name: 'v1', schema: { openAPIV3Schema: { description: 'uses {{ braces }}' } } }],
        },
      },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named('controller-manager') },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: named('webhook-service'),
        spec: { ports: [{ port: 443, targetPort: 9443 }], selector: labels },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: named('controller-manager'),
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [container] } },
        },
      },
    ],
  }
}

const fileOf = (path: string, chart = generateChart(input())) =>
  String(chart.find(file => file.path === path)?.content)

describe('a chart', () => {
  it('has the names of its release, and values for the manager', () => {
    const manager = fileOf('templates/manager/manager.yaml')
    assert.match(manager, /name: \{\{ include "greeter\.serviceAccountName" \. \}\}/)
    assert.match(manager, /namespace: \{\{ \.Release\.Namespace \}\}/)
    assert.match(
      manager,
      /--webhook-service=\{\{ \.Release\.Namespace \}\}\/\{\{ include "greeter\.resourceName" \(dict "suffix" "webhook-service" "context" \.\) \}\}/,
    )
    assert.doesNotMatch(manager, /greeter-system|XTPL|XBLK/)
    const values = fileOf('values.yaml')
    assert.match(values, /repository: "registry\.example\.com:5000\/greeter"\n.*\n {4}tag: "1\.0"/)
    assert.match(values, / {2}args:\n {2}- run\n {2}- operator\.ts\n\n/)
  })

  it('escapes braces that are not its own', () => {
    assert.match(
      fileOf('templates/crd/greetings.example.com.yaml'),
      /uses \{\{ "\{\{" \}\} braces \{\{ "\}\}" \}\}/,
    )
  })

  it('does not change the objects that it was made from', () => {
    const given = input()
    const before = JSON.stringify(given)
    generateChart(given)
    assert.equal(JSON.stringify(given), before)
  })

  it('is refused without a valid name and version, and without a Deployment', () => {
    for (const change of [{ name: 'Greeter' }, { name: 'x'.repeat(60) }, { version: '1' }, { objects: [] }])
      assert.throws(
        () => generateChart({ ...input(), ...change }),
        error => isProjectError(error, 'BadProject'),
      )
  })
})

describe('the folder of a chart', () => {
  it('keeps what the author changed, and has the new text beside it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-chart-'))
    try {
      const read = (path: string) => readFileSync(join(folder, path), 'utf8')
      const write = (chart: ReturnType<typeof generateChart>) => {
        const plan = planChart(folder, chart)
        plan.write()
        return plan.changes
      }
      assert.ok(write(generateChart(input())).every(change => change.state === 'created'))
      assert.deepEqual(write(generateChart(input())), [])
      writeFileSync(join(folder, 'values.yaml'), 'mine: true\n')
      rmSync(join(folder, 'templates/NOTES.txt'))
      assert.deepEqual(write(generateChart(input())), [])
      assert.deepEqual(write(generateChart(input(2))), [{ path: 'values.yaml', state: 'conflict' }])
      assert.equal(read('values.yaml'), 'mine: true\n')
      assert.match(read('values.yaml.new'), /replicas: 2/)
      const fewer = generateChart(input(2)).filter(file => !/webhook|values/.test(file.path))
      const changes = write(fewer)
      assert.deepEqual(changes, [
        { path: 'templates/webhook/webhook-service.yaml', state: 'removed' },
        { path: 'values.yaml', state: 'kept' },
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
