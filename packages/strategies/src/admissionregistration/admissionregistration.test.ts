import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { findProblems } from '../test-support/find-problems.ts'
import { mutatingAdmissionPolicyStrategy } from './mutating-admission-policy.ts'
import { validatingAdmissionPolicyStrategy } from './validating-admission-policy.ts'
import { validatingAdmissionPolicyBindingStrategy } from './validating-admission-policy-binding.ts'
import { validatingWebhookConfigurationStrategy } from './validating-webhook-configuration.ts'

const metadata = { name: 'a' }
const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }

const hook = (members: JsonObject = {}): JsonObject => ({
  name: 'hook.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://hooks.example.com/x' },
  rules: [{ ...rule }],
  ...members,
})

const check = (webhook: JsonObject, old?: JsonObject): string[] =>
  findProblems(
    validatingWebhookConfigurationStrategy,
    { metadata, webhooks: [webhook] },
    old && { metadata, webhooks: [old] },
  )

describe('webhook configurations', () => {
  it('get the defaults of a cautious caller', () => {
    const webhook = hook()
    assert.deepEqual(check(webhook), [])
    const { failurePolicy, matchPolicy, timeoutSeconds, namespaceSelector } = webhook
    assert.deepEqual(
      { failurePolicy, matchPolicy, timeoutSeconds, namespaceSelector },
      { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10, namespaceSelector: {} },
    )
  })

  it('refuse side effects, unless they were stored with them', () => {
    const some = hook({ sideEffects: 'Some' })
    assert.deepEqual(check(some), [
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ])
    assert.deepEqual(check(some, structuredClone(some)), [])
  })

  it('name what a wildcard covers only once', () => {
    const resources = ['pods/*', 'pods/log', '*', 'nodes']
    assert.deepEqual(check(hook({ rules: [{ ...rule, resources }] })), [
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      `webhooks[0].rules[0].resources: Invalid value: ["pods/*","pods/log","*","nodes"]: if '*' is present, must not specify other resources without subresources`,
    ])
  })

  it('are called over https at a bare address', () => {
    const at = 'webhooks[0].clientConfig.url'
    assert.deepEqual(check(hook({ clientConfig: { url: 'http://u@host/?q#f' } })), [
      `${at}: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      `${at}: Invalid value: "u": user information is not permitted in the URL`,
      `${at}: Invalid value: "f": fragments are not permitted in the URL`,
      `${at}: Invalid value: "q": query parameters are not permitted in the URL`,
    ])
    assert.deepEqual(check(hook({ clientConfig: {} })), [
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ])
  })

  it('do not judge conditions again that did not change', () => {
    const broken = hook({ matchConditions: [{ name: '', expression: '' }] })
    assert.equal(check(broken).length, 2)
    assert.deepEqual(check(broken, structuredClone(broken)), [])
  })
})

describe('policies', () => {
  const matchConstraints = { resourceRules: [{ ...rule }] }

  it('say what they are about and what they check', () => {
    assert.deepEqual(findProblems(validatingAdmissionPolicyStrategy, { metadata, spec: {} }), [
      'spec.matchConstraints: Required value',
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ])
  })

  it('have variables with names of the expression language', () => {
    const variables = [{ name: 'in', expression: '1' }]
    const spec = { matchConstraints, variables, validations: [{ expression: 'true' }] }
    assert.deepEqual(findProblems(validatingAdmissionPolicyStrategy, { metadata, spec }), [
      'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
    ])
  })

  it('change nothing that is being deleted', () => {
    const spec = {
      matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] },
      mutations: [
        { patchType: 'JSONPatch', jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/a'}]" } },
      ],
      reinvocationPolicy: 'Never',
    }
    assert.deepEqual(findProblems(mutatingAdmissionPolicyStrategy, { metadata, spec }), [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ])
  })
})

describe('policy bindings', () => {
  it('deny or warn, and find their parameters in one way', () => {
    const paramRef = { name: 'p', selector: {}, parameterNotFoundAction: 'Deny' }
    const spec = { policyName: 'a', validationActions: ['Deny', 'Warn'], paramRef }
    const found = findProblems(validatingAdmissionPolicyBindingStrategy, { metadata, spec })
    assert.deepEqual(found.slice(0, 2), [
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
    ])
    assert.match(found[2] ?? '', /^spec\.validationActions: .*must not contain both Deny and Warn/)
    assert.equal(found.length, 3)
  })
})
