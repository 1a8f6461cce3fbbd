import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRealEnv, createSeededRandom, type Random, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createEtcdStore } from '@coxswain/storage/etcd'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { checkHistory, recordHistory } from '../../packages/storage/src/history/record.ts'
import type { EtcdCluster } from './etcd-cluster.ts'

/** What was wrong with so many histories of eight clients, one seed after the other. Stops at the first bad one. */
export interface HistoryRuns {
  readonly seed: number
  readonly runs: number
}

export async function checkMemoryHistories({ seed, runs }: HistoryRuns): Promise<string[]> {
  for (let run = seed; run < seed + runs; run++) {
    const world = new VirtualWorld({ seed: run })
    const store = createMemoryStore({ env: world, watch: { progressInterval: 10 } })
    const problems = checkHistory(await world.run(recordHistory({ random: world.random, stores: [store] })))
    if (problems.length > 0) return [`seed ${run}`, ...problems]
  }
  return []
}

export async function checkSqliteHistories({ seed, runs }: HistoryRuns): Promise<string[]> {
  for (let run = seed; run < seed + runs; run++) {
    const directory = await mkdtemp(join(tmpdir(), 'coxswain-history-'))
    try {
      const watch = { progressInterval: 5 }
      await using store = await openSqliteStore({ directory, watch, checkpointBytes: 200_000 })
      const random = createSeededRandom(run)
      const problems = checkHistory(await recordHistory({ random, stores: [store], operations: 60 }))
      if (problems.length > 0) return [`seed ${run}`, ...problems]
    } finally {
      await rm(directory, { recursive: true })
    }
  }
  return []
}

let histories = 0

/** Two stores share the cluster. With `disturbed`, members are killed, paused and started again meanwhile. */
export async function checkEtcdHistories(
  cluster: EtcdCluster,
  { seed, runs }: HistoryRuns,
  disturbed: boolean,
): Promise<string[]> {
  for (let run = seed; run < seed + runs; run++) {
    const random = createSeededRandom(run)
    const { endpoints } = cluster
    const env = createRealEnv()
    const options = { env, requestTimeout: 5000, watch: { progressInterval: 50 } }
    await using one = createEtcdStore({ ...options, endpoints })
    await using two = createEtcdStore({ ...options, endpoints: endpoints.toReversed() })
    const ended = new AbortController()
    const disturbing = disturbed ? disturb(cluster, random, ended.signal) : undefined
    const prefix = `/history-${++histories}/`
    try {
      const history = await recordHistory({
        random,
        stores: [one, two],
        prefix,
        operations: disturbed ? 40 : 30,
        ...(disturbed ? { between: () => sleep(random.below(100)) } : {}),
        beforeEnd: async () => {
          ended.abort()
          await disturbing
        },
      })
      const problems = checkHistory(history)
      if (problems.length > 0) return [`seed ${run}`, ...problems]
    } finally {
      ended.abort()
      await disturbing
    }
  }
  return []
}

/** One member at a time, so that the others keep a majority; whichever leads is hit like the rest. */
async function disturb(cluster: EtcdCluster, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const member = random.below(cluster.size)
    if (random.below(2) === 0) {
      await cluster.kill(member)
      await sleep(random.below(300))
      cluster.launch(member)
    } else {
      cluster.pause(member)
      await sleep(random.below(2000))
      cluster.resume(member)
    }
    await sleep(300 + random.below(500))
  }
  await cluster.ready()
}
