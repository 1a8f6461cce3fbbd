import { after, before, describe, it } from 'node:test'
import { createEtcdStore } from '@coxswain/storage/etcd'
import {
  type ConformanceTarget,
  casesFor,
  runConformanceCase,
} from '../../packages/storage/src/conformance/index.ts'
import { EtcdCluster, type EtcdClusterOptions } from './etcd-cluster.ts'

const clusters: readonly EtcdClusterOptions[] = [
  { version: 'etcd-3.4' },
  { version: 'etcd-3.6' },
  { version: 'etcd-3.6', size: 3 },
]

for (const options of clusters) {
  describe(`${options.version}, ${options.size ?? 1} member(s)`, () => {
    let cluster: EtcdCluster
    before(async () => {
      cluster = await EtcdCluster.start(options)
    })
    after(() => cluster[Symbol.asyncDispose]())

    const target: ConformanceTarget = {
      ownsHistory: false,
      shortestTtl: 2000,
      open: async settings => {
        const { historyRevisions: _, ...watch } = settings
        return createEtcdStore({ endpoints: cluster.endpoints, watch })
      },
      pass: ms => new Promise(resolve => setTimeout(resolve, ms)),
      within: promise => promise,
    }
    for (const which of casesFor(target))
      it(which.name, { timeout: 60_000 }, () => runConformanceCase(target, which))
  })
}
