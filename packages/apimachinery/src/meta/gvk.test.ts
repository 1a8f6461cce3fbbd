import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import {
  formatGroupKind,
  formatGroupResource,
  formatGroupVersion,
  formatGroupVersionKind,
  formatGroupVersionResource,
  gvkOf,
  parseGroupVersion,
} from './gvk.ts'
import { formatKey, keyOf, parseKey } from './keys.ts'
import { comparePreferredVersions } from './version.ts'

describe('apiVersion', () => {
  it('is a version of the core group without a slash, of the named group with one', () => {
    assert.deepEqual(parseGroupVersion('v1'), { group: '', version: 'v1' })
    assert.deepEqual(parseGroupVersion('apps/v1'), { group: 'apps', version: 'v1' })
    assert.deepEqual(parseGroupVersion(''), { group: '', version: '' })
    assert.deepEqual(parseGroupVersion('/'), { group: '', version: '' })
  })

  it('with two slashes is rejected with a message that quotes it', () => {
    assert.throws(() => parseGroupVersion('a/b/c'), { message: 'unexpected GroupVersion string: a/b/c' })
    assert.throws(
      () => gvkOf({ apiVersion: 'a/b/c' }),
      error => isMachineryError(error, 'BadGroupVersion'),
    )
  })

  it('is written as it was read', () => {
    for (const text of ['v1', 'apps/v1']) assert.equal(formatGroupVersion(parseGroupVersion(text)), text)
  })
})

describe('names of kinds and resources in messages', () => {
  it('leave out the core group', () => {
    assert.equal(formatGroupKind({ group: '', kind: 'Pod' }), 'Pod')
    assert.equal(formatGroupKind({ group: 'apps', kind: 'Deployment' }), 'Deployment.apps')
    assert.equal(formatGroupResource({ group: 'apps', resource: 'deployments' }), 'deployments.apps')
  })

  it('have the form with a comma when there is a version', () => {
    assert.equal(formatGroupVersionKind({ group: '', version: 'v1', kind: 'Pod' }), '/v1, Kind=Pod')
    assert.equal(
      formatGroupVersionResource({ group: 'apps', version: 'v1', resource: 'deployments' }),
      'apps/v1, Resource=deployments',
    )
  })
})

describe('versions', () => {
  it('are preferred stable first, then by number', () => {
    const versions = [
      'foo1',
      'v1',
      'v3beta1',
      'v10',
      'v11alpha2',
      'v2',
      'v12alpha1',
      'v10beta3',
      'v11beta2',
      'foo10',
    ]
    const sorted = 'v10 v2 v1 v11beta2 v10beta3 v3beta1 v12alpha1 v11alpha2 foo1 foo10'
    assert.equal(versions.sort(comparePreferredVersions).join(' '), sorted)
    const large = ['v9007199254740992', 'v9007199254740993', 'v9223372036854775808', 'v1']
    assert.deepEqual(large.sort(comparePreferredVersions), [
      'v9007199254740993',
      'v9007199254740992',
      'v1',
      'v9223372036854775808',
    ])
  })

  it('that are not those of Kubernetes come last, by alphabet', () => {
    const others = ['v0', '1', 'v1beta', 'v1gamma1', 'V1']
    assert.deepEqual([...others, 'v2beta1'].sort(comparePreferredVersions), ['v2beta1', ...others.sort()])
  })
})

describe('keys', () => {
  it('are namespace/name, or the name alone', () => {
    assert.equal(formatKey({ namespace: 'a', name: 'b' }), 'a/b')
    assert.equal(formatKey({ name: 'b' }), 'b')
    assert.deepEqual(parseKey('a/b'), { namespace: 'a', name: 'b' })
    assert.deepEqual(parseKey('b'), { name: 'b' })
    assert.deepEqual(keyOf({ metadata: { name: 'b', namespace: '' } }), { name: 'b' })
  })

  it('with two slashes are rejected', () => {
    assert.throws(() => parseKey('a/b/c'), { message: 'unexpected key format: "a/b/c"', code: 'BadKey' })
  })
})
