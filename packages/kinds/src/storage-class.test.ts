import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  betaStorageClassAnnotation,
  defaultStorageClassAnnotation,
  findDefaultStorageClass,
  storageClassNameOf,
} from './storage-class.ts'

describe('the default StorageClass', () => {
  const marked = (name: string, creationTimestamp: string) => ({
    metadata: { name, creationTimestamp, annotations: { [defaultStorageClassAnnotation]: 'true' } },
  })

  it('is the newest that is marked, then the first by name', () => {
    const old = marked('a', '2025-01-01T00:00:00Z')
    const [first, second] = [marked('b', '2026-01-01T00:00:00Z'), marked('c', '2026-01-01T00:00:00Z')]
    assert.equal(findDefaultStorageClass([second, old, first]), first)
    assert.equal(findDefaultStorageClass([{ metadata: { name: 'x' } }]), undefined)
  })
})

describe('the class of a claim', () => {
  it('is that of the annotation before that of the field', () => {
    const annotations = { [betaStorageClassAnnotation]: 'a' }
    assert.equal(storageClassNameOf({ metadata: { annotations }, spec: { storageClassName: 'b' } }), 'a')
    assert.equal(storageClassNameOf({ metadata: {}, spec: { storageClassName: '' } }), '')
    assert.equal(storageClassNameOf({ metadata: {}, spec: {} }), undefined)
  })
})
