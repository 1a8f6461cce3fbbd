import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { applyJsonPatch, decodeJsonPatch, unknownJsonPatchFields } from './json-patch.ts'

function patched(document: unknown, patch: unknown): unknown {
  return applyJsonPatch(document, decodeJsonPatch(patch))
}

function refused(document: unknown, patch: unknown, message?: RegExp): void {
  assert.throws(
    () => patched(document, patch),
    error => isMachineryError(error, 'PatchInapplicable') && (!message || message.test(error.message)),
  )
}

describe('JSON patch', () => {
  it('adds, removes and replaces', () => {
    assert.deepEqual(patched({ a: 1 }, [{ op: 'add', path: '/b', value: [1] }]), { a: 1, b: [1] })
    assert.deepEqual(patched({ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }]), { b: 2 })
    assert.deepEqual(patched({ a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: null }]), {
      a: { b: null },
    })
  })

  it('inserts into lists by index, at the end and from the end', () => {
    const insert = (path: string): unknown => patched({ l: [1, 2] }, [{ op: 'add', path, value: 9 }])
    assert.deepEqual(insert('/l/0'), { l: [9, 1, 2] })
    assert.deepEqual(insert('/l/2'), { l: [1, 2, 9] })
    assert.deepEqual(insert('/l/-'), { l: [1, 2, 9] })
    assert.deepEqual(insert('/l/-1'), { l: [1, 2, 9] })
    assert.deepEqual(patched({ l: [1, 2] }, [{ op: 'remove', path: '/l/-1' }]), { l: [1] })
    refused({ l: [1, 2] }, [{ op: 'add', path: '/l/3', value: 9 }], /Unable to access invalid index: 3/)
    refused({ l: [1, 2] }, [{ op: 'add', path: '/l/x', value: 9 }], /not a proper array index: 'x'/)
    refused({ l: [1, 2] }, [{ op: 'replace', path: '/l/2', value: 9 }], /doc is missing key/)
  })

  it('moves and copies, and what was copied is independent of its source', () => {
    assert.deepEqual(patched({ a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }]), {
      a: {},
      b: { y: 1 },
    })
    const steps = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/y', value: 2 },
    ]
    assert.deepEqual(patched({ a: { x: 1 } }, steps), { a: { x: 1 }, b: { x: 1, y: 2 } })
    refused({ a: 1 }, [{ op: 'move', from: '/x', path: '/y' }], /Unable to remove nonexistent key: x/)
  })

  it('tests deeply, without regard to the order of keys', () => {
    assert.deepEqual(
      patched({ a: { x: 1, y: [2] } }, [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }]),
      {
        a: { x: 1, y: [2] },
      },
    )
    refused({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }], /^testing value \/a failed: test failed$/)
    refused({ a: 1 }, [{ op: 'test', path: '/a', value: '1' }])
    patched({ a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }])
  })

  it('follows kube-apiserver where it is laxer than the RFC', () => {
    assert.deepEqual(patched({}, [{ op: 'replace', path: '/a', value: 1 }]), { a: 1 })
    assert.deepEqual(patched({}, [{ op: 'copy', from: '/none', path: '/a' }]), { a: null })
    assert.deepEqual(patched({}, [{ op: 'test', path: '/none', value: null }]), {})
    assert.deepEqual(patched({ a: {} }, [{ op: 'add', path: 'ignored/a/b', value: 1 }]), { a: { b: 1 } })
    assert.deepEqual(patched({ a: 1 }, null), { a: 1 })
  })

  it('unescapes ~1 and ~0 in one pass', () => {
    assert.deepEqual(patched({ 'a/b': 1, 'c~d': 2, '~1': 3 }, [{ op: 'remove', path: '/a~1b' }]), {
      'c~d': 2,
      '~1': 3,
    })
    assert.deepEqual(patched({ '~1': 3 }, [{ op: 'remove', path: '/~01' }]), {})
  })

  it('rejects operations that do not apply to the document, and leaves the document alone', () => {
    const document = { a: { b: [1] } }
    const steps = [
      { op: 'add', path: '/a/b/-', value: 2 },
      { op: 'remove', path: '/a/none' },
    ]
    refused(document, steps, /^error in remove for path: '\/a\/none': Unable to remove nonexistent key: none/)
    assert.deepEqual(document, { a: { b: [1] } })
    refused(document, [{ op: 'frob', path: '/a' }], /^Unexpected kind: frob$/)
    refused(document, [{ op: 'constructor', path: '/a' }], /^Unexpected kind: constructor$/)
    refused(document, [{ op: 'add', value: 1 }], /^add operation failed to decode path/)
    refused(document, [{ op: 'add', path: '/x/y', value: 1 }], /doc is missing path: "\/x\/y"/)
    refused(document, [{ op: 'replace', path: '', value: 1 }], /must be object or array/)
    refused(document, [null], /^Unexpected kind: unknown$/)
  })

  it('shares unchanged parts and never changes its inputs', () => {
    const document = { a: { x: 1 }, b: { y: [1] } }
    const value = { z: 1 }
    const patch = [
      { op: 'add', path: '/a/v', value },
      { op: 'add', path: '/a/v/w', value: 2 },
    ]
    const result = patched(document, patch) as typeof document
    assert.equal(result.b, document.b)
    assert.deepEqual(document, { a: { x: 1 }, b: { y: [1] } })
    assert.deepEqual(value, { z: 1 })
    assert.deepEqual(result.a, { x: 1, v: { z: 1, w: 2 } })
  })

  it('distinguishes an invalid patch from one that does not apply', () => {
    const cases: [unknown, RegExp][] = [
      [
        { op: 'add' },
        /^error decoding patch: json: cannot unmarshal object into Go value of type \[\]handlers\.jsonPatchOp$/,
      ],
      ['x', /cannot unmarshal string into/],
      [[1], /cannot unmarshal number into Go value of type handlers\.jsonPatchOp$/],
      [
        [{ op: 'add', path: 5 }],
        /cannot unmarshal number into Go struct field jsonPatchOp\.path of type string$/,
      ],
    ]
    for (const [patch, message] of cases) {
      assert.throws(
        () => decodeJsonPatch(patch),
        error => isMachineryError(error, 'PatchUndecodable') && message.test(error.message),
      )
    }
    assert.deepEqual(
      unknownJsonPatchFields(
        decodeJsonPatch([
          { op: 'test', path: '' },
          { op: 'x', frob: 1 },
        ]),
      ),
      ['[1].frob'],
    )
  })

  it('accepts 10,000 operations and no more, and copies 3 MiB and no more', () => {
    const operations = (count: number): unknown =>
      Array.from({ length: count }, () => ({ op: 'add', path: '/l/-', value: 1 }))
    assert.equal((patched({ l: [] }, operations(10_000)) as { l: unknown[] }).l.length, 10_000)
    assert.throws(
      () => decodeJsonPatch(operations(10_001)),
      error =>
        isMachineryError(error, 'PatchTooLarge') &&
        error.message === 'The allowed maximum operations in a JSON patch is 10000, got 10001',
    )
    const doubling = Array.from({ length: 30 }, () => ({ op: 'copy', from: '/l', path: '/l/-' }))
    refused({ l: ['x'.repeat(1000)] }, doubling, /exceeding the limit 3145728$/)
  })

  it('treats __proto__ as an ordinary key', () => {
    const document: unknown = JSON.parse('{"a":{}}')
    const steps = [
      { op: 'add', path: '/a/__proto__', value: { polluted: 1 } },
      { op: 'add', path: '/a/__proto__/more', value: 2 },
    ]
    const result = patched(document, steps)
    assert.equal(JSON.stringify(result), '{"a":{"__proto__":{"polluted":1,"more":2}}}')
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    refused({}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }], /doc is missing path/)
  })
})
