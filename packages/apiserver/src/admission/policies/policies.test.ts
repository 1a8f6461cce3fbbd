import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { startServer, type TestServer } from '../test-support/server.ts'

const base = '/apis/admissionregistration.k8s.io/v1'
const configmaps = '/api/v1/namespaces/default/configmaps'
const configmapRules = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
}

async function bind(
  server: TestServer,
  kind: 'mutating' | 'validating',
  name: string,
  spec: JsonObject,
  binding: JsonObject = {},
): Promise<void> {
  await server.must('POST', `${base}/${kind}admissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: configmapRules,
      ...(kind === 'mutating' && { reinvocationPolicy: 'Never' }),
      ...spec,
    },
  })
  await server.must('POST', `${base}/${kind}admissionpolicybindings`, {
    metadata: { name: `${name}-binding` },
    spec: { policyName: name, ...(kind === 'validating' && { validationActions: ['Deny'] }), ...binding },
  })
}

const configmap = (name: string, data: JsonObject = {}, metadata: JsonObject = {}) => ({
  metadata: { name, ...metadata },
  data,
})

describe('ValidatingAdmissionPolicy', () => {
  it('denies a request with the message of the policy', async () => {
    await using server = await startServer()
    await bind(server, 'validating', 'size', {
      variables: [{ name: 'n', expression: "int(object.data['n'])" }],
      validations: [
        {
          expression: 'variables.n < 5',
          messageExpression: "'n is ' + string(variables.n)",
          reason: 'Forbidden',
        },
      ],
    })
    assert.equal((await server.send('POST', configmaps, configmap('a', { n: '3' }))).status, 201)
    const refused = await server.send('POST', configmaps, configmap('b', { n: '7' }))
    const message =
      "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'size' with binding 'size-binding' denied request: n is 7"
    assert.equal(refused.status, 403)
    assert.equal(refused.body.message, message)
    const failed = await server.send('POST', configmaps, configmap('c', { m: '1' }))
    assert.equal(failed.status, 422)
    assert.match(
      failed.body.message,
      /expression 'variables.n < 5' resulted in error: composited variable "n" fails to evaluate: no such key: n$/,
    )
  })
})

describe('MutatingAdmissionPolicy', () => {
  it('merges apply configurations and applies patches', async () => {
    await using server = await startServer()
    await bind(server, 'mutating', 'label', {
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: 'Object{metadata: Object.metadata{labels: Object.metadata.labels{env: "test"}}}',
          },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: "[JSONPatch{op: 'add', path: '/data/k', value: object.metadata.labels.env}]",
          },
        },
      ],
    })
    const made = await server.must('POST', configmaps, configmap('a', { z: '1' }))
    assert.deepEqual(made.metadata.labels, { env: 'test' })
    assert.deepEqual(made.data, { z: '1', k: 'test' })
  })
})

describe('the type checking of a ValidatingAdmissionPolicy', () => {
  it('reports type errors of expressions in the status', async () => {
    await using server = await startServer({ admission: { checkPolicyTypes: true } })
    const path = `${base}/validatingadmissionpolicies`
    const policy = (name: string, expression: string) => ({
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
          ],
        },
        variables: [{ name: 'spec', expression: 'object.spec' }],
        validations: [{ expression, messageExpression: "'replicas: ' + string(object.spec.replicas)" }],
      },
    })
    const settled = async (name: string) => {
      for (;;) {
        const { metadata, status } = await server.must('GET', `${path}/${name}`)
        if (status?.observedGeneration === metadata.generation) return { status, metadata }
        await new Promise(resolve => setTimeout(resolve, 2))
      }
    }
    await server.must('POST', path, policy('fine', 'object.spec.replicas > 1 && variables.spec != null'))
    assert.deepEqual((await settled('fine')).status.typeChecking, {})
    await server.must('POST', path, policy('wrong', "object.spec.replicas > '1'"))
    const { status, metadata } = await settled('wrong')
    const [warning, ...others] = status.typeChecking.expressionWarnings
    assert.deepEqual(others, [])
    assert.equal(warning.fieldRef, 'spec.validations[0].expression')
    assert.match(
      warning.warning,
      /^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '\(int, string\)'/,
    )
    const managers = metadata.managedFields.map(({ manager }: { manager: string }) => manager)
    assert.ok(managers.includes('validatingadmissionpolicy-status-controller'))
  })
})
