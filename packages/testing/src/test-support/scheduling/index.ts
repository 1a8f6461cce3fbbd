/** All scenarios, by the file they are in. */
import * as affinity from './affinity-scenarios.ts'
import * as features from './feature-scenarios.ts'
import * as migrated from './migrated-volume-scenarios.ts'
import * as nodes from './node-scenarios.ts'
import * as preemption from './preemption-scenarios.ts'
import * as queue from './queue-scenarios.ts'
import * as resources from './resource-scenarios.ts'
import type { Scenario } from './scenario.ts'
import * as spread from './spread-scenarios.ts'
import * as volumes from './volume-scenarios.ts'

const list = (tables: Readonly<Record<string, readonly Scenario[]>>) => Object.values(tables).flat()

export const affinityScenarios: readonly Scenario[] = list(affinity)
export const nodeScenarios: readonly Scenario[] = [...list(nodes), ...list(features)]
export const resourceScenarios: readonly Scenario[] = list(resources)
export const spreadScenarios: readonly Scenario[] = list(spread)
export const preemptionScenarios: readonly Scenario[] = list(preemption)
export const volumeScenarios: readonly Scenario[] = [...list(volumes), ...list(migrated)]
export const queueScenarios: readonly Scenario[] = list(queue)
