/** What the recorded answers do not cover: request options, and arbitrarily long inputs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import * as dns from './dns.ts'
import { isValidIPForLegacyField } from './ip.ts'
import { parseCIDR, parseIP } from './ip-text.ts'
import * as names from './names.ts'
import {
  nameIsDNSSubdomain,
  nameIsPathSegment,
  validateObjectMeta,
  validateOwnerReferences,
} from './object-meta.ts'

describe('metadata', () => {
  it('of a cluster-scoped object has no namespace', () => {
    const rules = { namespaced: false, validateName: nameIsDNSSubdomain }
    const errors = validateObjectMeta({ name: 'x', namespace: 'y' }, rules, Path.of('metadata'))
    assert.deepEqual(errors.map(formatFieldError), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ])
  })

  it('of RBAC objects may have any name that fits in a path', () => {
    assert.deepEqual(nameIsPathSegment('system:node', false), [])
    assert.deepEqual(nameIsPathSegment('a/b%', false), ["may not contain '/'", "may not contain '%'"])
    assert.deepEqual(nameIsPathSegment('..', true), [])
    assert.deepEqual(nameIsPathSegment('..', false), ["may not be '..'"])
  })
})

describe('owner references', () => {
  it('that are all controllers share one list of references, however many they are', () => {
    const references = Array.from({ length: 20_000 }, (_, i) => {
      return { apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}`, controller: true }
    })
    const before = process.memoryUsage().heapUsed
    const errors = validateOwnerReferences(references, Path.of('metadata', 'ownerReferences'))
    assert.equal(errors.length, 19_999)
    assert.ok(process.memoryUsage().heapUsed - before < 200e6)
    assert.match(
      formatFieldError(errors[0]!),
      /^metadata\.ownerReferences: Invalid value: \[.*Found "true" in references for Pod\/p0 and Pod\/p1$/,
    )
  })
})

describe('IP addresses', () => {
  it('that an object had before stay valid', () => {
    const rules = { strict: true, validOld: new Set(['010.0.0.1']) }
    assert.deepEqual(isValidIPForLegacyField(Path.of('spec'), '010.0.0.1', rules), [])
    assert.equal(isValidIPForLegacyField(Path.of('spec'), '010.0.0.2', rules).length, 1)
  })

  it('are not accepted as blocks, nor blocks as addresses', () => {
    assert.equal(parseIP('10.0.0.0/8'), undefined)
    assert.equal(parseCIDR('10.0.0.0'), undefined)
    assert.deepEqual([...parseIP('::1')!.bytes].at(-1), 1)
  })
})

describe('every check', () => {
  it('takes linear time for a megabyte', () => {
    const checks = [...Object.values(dns), ...Object.values(names)].filter(
      check => typeof check === 'function' && check.length === 1,
    ) as ((value: string) => string[])[]
    assert.ok(checks.length >= 15)
    const hostile = ['a', 'a-', 'a.', '-', '.', 'a/', 'é'].map(part => part.repeat(1_000_000 / part.length))
    for (const check of checks) for (const value of hostile) assert.ok(Array.isArray(check(`${value}!`)))
  })
})
