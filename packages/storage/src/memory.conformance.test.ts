import { describe, it } from 'node:test'
import { createRealEnv, VirtualWorld } from '@coxswain/kit'
import {
  type ConformanceTarget,
  casesFor,
  runConformanceCase,
  type StoreSettings,
} from './conformance/index.ts'
import { createMemoryStore } from './memory.ts'
import type { Store } from './store.ts'

function options(settings: StoreSettings) {
  const { historyRevisions, ...watch } = settings
  return { watch, history: historyRevisions ? { revisions: historyRevisions, bytes: 0 } : {} }
}

const direct: ConformanceTarget = {
  ownsHistory: true,
  shortestTtl: 20,
  open: async (settings): Promise<Store> => createMemoryStore({ env: createRealEnv(), ...options(settings) }),
  pass: ms => new Promise(resolve => setTimeout(resolve, ms)),
  within: promise => promise,
}

describe('memory store, with direct hand-offs', () => {
  for (const which of casesFor(direct)) it(which.name, () => runConformanceCase(direct, which))
})

describe('memory store, in a virtual world', () => {
  for (const [index, which] of casesFor(direct).entries()) {
    it(which.name, async () => {
      for (const seed of [index, index + 1000]) {
        const world = new VirtualWorld({ seed })
        const target: ConformanceTarget = {
          ...direct,
          open: async (settings): Promise<Store> => createMemoryStore({ env: world, ...options(settings) }),
          pass: ms => world.clock.sleep(ms),
        }
        await world.run(runConformanceCase(target, which))
      }
    })
  }
})
