import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { type AuthorizationFlags, checkAuthorizationFlags } from '../options/authorization-options.ts'
import { allowsEverything, createAuthorization } from './authorization.ts'
import { readConfiguration } from './authorization-config.ts'

function problemOf(flags: AuthorizationFlags): string {
  try {
    checkAuthorizationFlags(flags)
  } catch (error) {
    return (error as Error).message
  }
  return 'none'
}

describe('the options of authorization', () => {
  it("are rejected with kube-apiserver's messages", () => {
    assert.equal(problemOf({}), 'none')
    assert.equal(problemOf({ authorizationMode: ['RBAC', 'Node'] }), 'none')
    assert.equal(problemOf({ authorizationMode: ['Rbac'] }), 'authorization-mode "Rbac" is not a valid mode')
    assert.equal(problemOf({ authorizationMode: [] }), 'at least one authorization-mode must be passed')
    assert.equal(
      problemOf({ authorizationMode: ['RBAC', 'RBAC'] }),
      'authorization-mode ["RBAC" "RBAC"] has mode specified more than once',
    )
    assert.equal(
      problemOf({ authorizationMode: ['ABAC'] }),
      "authorization-mode ABAC's authorization policy file not passed",
    )
    assert.equal(
      problemOf({ authorizationPolicyFile: 'x' }),
      'cannot specify --authorization-policy-file without mode ABAC',
    )
    assert.equal(
      problemOf({ authorizationMode: ['RBAC'], authorizationConfig: 'x' }),
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    )
  })

  it('combine several authorizers', async () => {
    const create = await createAuthorization({ authorizationMode: ['AlwaysDeny', 'AlwaysAllow'] })
    const authorizer = create({} as never)
    const info = { isResource: false as const, verb: 'get', path: '/' }
    const access = { user: { name: 'x', groups: [] }, info }
    assert.equal((await authorizer(access)).verdict, 'allow')
  })
})

describe('allowsEverything', () => {
  it('finds AlwaysAllow among the modes, and in a configuration', async () => {
    assert.equal(await allowsEverything({}), false)
    assert.equal(await allowsEverything({ authorizationMode: ['RBAC', 'AlwaysDeny'] }), false)
    assert.equal(await allowsEverything({ authorizationMode: ['RBAC', 'AlwaysAllow'] }), true)
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-authz-'))
    try {
      const file = join(folder, 'config.yaml')
      writeFileSync(file, `${head}- {type: AlwaysAllow, name: alwaysallow}\n`)
      assert.equal(await allowsEverything({ authorizationConfig: file }), true)
      writeFileSync(file, `${head}- {type: RBAC, name: rbac}\n`)
      assert.equal(await allowsEverything({ authorizationConfig: file }), false)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n'

function configurationProblem(authorizers: string): string {
  try {
    readConfiguration(head + authorizers)
  } catch (error) {
    return (error as Error).message
  }
  return 'none'
}

describe('an AuthorizationConfiguration', () => {
  it('lists authorizers with their names', () => {
    assert.equal(configurationProblem('- {type: Node, name: node}\n- {type: RBAC, name: rbac}'), 'none')
    assert.equal(
      configurationProblem('- {type: RBAC, name: other}'),
      'expected name rbac for authorizer RBAC instead of other',
    )
    assert.equal(
      configurationProblem('- {type: RBAC, name: rbac}\n- {type: RBAC, name: rbac}'),
      'authorizers[1].type: Duplicate value: "RBAC"',
    )
    assert.match(
      configurationProblem('- {type: Foo, name: foo}'),
      /^authorizers\[0\]\.type: Unsupported value: "Foo": supported values: "ABAC", "AlwaysAllow"/,
    )
    assert.throws(
      () => readConfiguration('kind: Pod'),
      /^Error: failed to load AuthorizationConfiguration from file/,
    )
  })

  it('reports missing and invalid fields of webhooks', () => {
    assert.equal(
      configurationProblem('- {type: Webhook, name: w}'),
      'authorizers[0].webhook: Required value: required when type=Webhook',
    )
    const problem = configurationProblem(
      '- {type: Webhook, name: w, webhook: {timeout: 31s, matchConditions: [{expression: "1"}]}}',
    )
    for (const text of [
      'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
      'authorizers[0].subjectAccessReviewVersion: Required value',
      'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
      'authorizers[0].failurePolicy: Required value',
      'authorizers[0].connectionInfo.type: Required value',
      'authorizers[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ])
      assert.ok(problem.includes(text), `${text} is not in ${problem}`)
  })

  it('becomes authorizers, webhooks from their kubeconfigs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-authz-'))
    try {
      const kubeconfig = join(folder, 'webhook.yaml')
      writeFileSync(
        kubeconfig,
        'clusters: [{name: c, cluster: {server: "https://authz.example.com/authorize"}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n',
      )
      const file = join(folder, 'config.yaml')
      writeFileSync(
        file,
        `${head}- type: Webhook\n  name: w\n  webhook: {timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${kubeconfig}}}\n- {type: RBAC, name: rbac}\n`,
      )
      const create = await createAuthorization({ authorizationConfig: file })
      const authorizer = create({ env: createRealEnv() } as never)
      assert.equal(typeof authorizer.rulesFor, 'function')
      await authorizer.dispose?.()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
