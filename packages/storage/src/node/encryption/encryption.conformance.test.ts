import { Buffer } from 'node:buffer'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { type ConformanceTarget, casesFor, runConformanceCase } from '../../conformance/index.ts'
import { createMemoryStore } from '../../memory.ts'
import type { Store } from '../../store.ts'
import { createEncryptedStore, readEncryption } from './index.ts'

const env = createRealEnv()
const keys = [{ name: 'one', secret: Buffer.alloc(32, 1).toString('base64') }]
const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [{ resources: ['*.*'], providers: [{ aesgcm: { keys } }] }],
}

const target: ConformanceTarget = {
  ownsHistory: true,
  shortestTtl: 20,
  open: async ({ historyRevisions, ...watch }): Promise<Store> => {
    const history = historyRevisions ? { revisions: historyRevisions, bytes: 0 } : {}
    return createEncryptedStore(
      createMemoryStore({ env, watch, history }),
      readEncryption(configuration, env),
    )
  },
  pass: ms => new Promise(resolve => setTimeout(resolve, ms)),
  within: promise => promise,
}

describe('a store behind encryption', () => {
  for (const which of casesFor(target)) it(which.name, () => runConformanceCase(target, which))
})
