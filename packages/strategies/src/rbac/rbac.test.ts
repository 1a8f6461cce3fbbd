import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findProblems } from '../test-support/find-problems.ts'
import { clusterRoleStrategy } from './cluster-role.ts'
import { clusterRoleBindingStrategy } from './cluster-role-binding.ts'
import { roleStrategy } from './role.ts'
import { roleBindingStrategy } from './role-binding.ts'

const metadata = { name: 'a' }
const group = 'rbac.authorization.k8s.io'

describe('roles', () => {
  it('need verbs, groups and resources in a rule', () => {
    assert.deepEqual(findProblems(roleStrategy, { metadata, rules: [{}] }), [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ])
  })

  it('are about URLs only where they are not namespaced', () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]
    assert.deepEqual(findProblems(clusterRoleStrategy, { metadata, rules }), [])
    assert.deepEqual(findProblems(roleStrategy, { metadata, rules }), [
      'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: namespaced rules cannot apply to non-resource URLs',
    ])
  })

  it('keep a selector that was stored before label values were checked', () => {
    const clusterRoleSelectors = [
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['not a value!'] }] },
    ]
    const role = { metadata, aggregationRule: { clusterRoleSelectors } }
    assert.equal(findProblems(clusterRoleStrategy, role).length, 2)
    assert.deepEqual(findProblems(clusterRoleStrategy, role, structuredClone(role)), [])
  })

  it('take any name that can stand in a path', () => {
    assert.deepEqual(clusterRoleStrategy.validateName?.('system:node', false), [])
    assert.equal(clusterRoleStrategy.validateName?.('a/b', false).length, 1)
  })
})

describe('bindings', () => {
  const subjects = [{ kind: 'User', name: 'jane' }]

  it('fill in the group of what they refer to', () => {
    const binding = { metadata, roleRef: { apiGroup: '', kind: 'Role', name: 'r' }, subjects: [...subjects] }
    assert.deepEqual(findProblems(roleBindingStrategy, binding), [])
    assert.equal(binding.roleRef.apiGroup, group)
    assert.deepEqual(binding.subjects, [{ kind: 'User', name: 'jane', apiGroup: group }])
  })

  it('bind the whole cluster to cluster roles alone, and to accounts with a namespace', () => {
    const roleRef = { apiGroup: group, kind: 'Role', name: 'r' }
    const account = { kind: 'ServiceAccount', name: 'bot' }
    assert.deepEqual(findProblems(clusterRoleBindingStrategy, { metadata, roleRef, subjects: [account] }), [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ])
  })

  it('never change their role', () => {
    const old = { metadata, roleRef: { apiGroup: group, kind: 'Role', name: 'r' } }
    const changed = { metadata, roleRef: { ...old.roleRef, name: 'other' } }
    assert.deepEqual(findProblems(roleBindingStrategy, changed, old), [
      `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"Role","Name":"other"}: cannot change roleRef`,
    ])
  })
})
