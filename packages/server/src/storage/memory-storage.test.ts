import { describe, it } from 'node:test'
import { createMemoryStorage } from './memory-storage.ts'
import { testStorage } from './test-storage.ts'

describe('a storage in memory', () => {
  testStorage({
    it,
    create: () => createMemoryStorage(),
    object: (name, variant) =>
      ({
        apiVersion: 'example.com/v1',
        kind: 'Note',
        metadata: { namespace: 'default', name },
        variant,
      }) as never,
  })
})
