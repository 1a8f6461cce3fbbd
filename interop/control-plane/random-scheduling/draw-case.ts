import { Node } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { create } from '../../../packages/testing/src/test-support/scheduling/apply-step.ts'
import type { Given } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import { createDraw } from '../comparison/random/draw.ts'
import { drawChange } from './changes.ts'
import { drawBudget, drawNode, drawRuntimeClass, drawService } from './nodes.ts'
import { drawBoundPod, drawPod, type Surroundings } from './pods.ts'
import { drawStorage } from './volumes.ts'

/** A pod comes, or something changes. */
export interface Step {
  readonly say: string
  readonly run: (client: Client) => Promise<unknown>
  /** The name of the pod that comes. */
  readonly pod?: string
}

/** A small cluster, and what happens in it, one after the other. */
export interface Case {
  readonly seed: number
  /** In the order in which they are made; those of one list do not depend on each other. */
  readonly before: readonly (readonly Given[])[]
  readonly pods: readonly Given[]
  readonly steps: readonly Step[]
  /** Nodes that may come later. */
  readonly later: readonly Given[]
}

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const mostChanges = 4

export function drawCase(seed: number): Case {
  const draw = createDraw(seed)
  const prefix = `s${seed}-`
  const density = draw.pick([0.2, 0.5, 1])
  const nodeNames = list(draw.below(6) + 1, index => `${prefix}n${index}`)
  const nodes = nodeNames.map(name => drawNode(draw, name, density))
  const storage = draw.chance(0.35) ? drawStorage(draw, prefix, nodeNames) : { objects: [], claims: [] }
  const runtimeClass = draw.chance(0.15) ? `${prefix}sandbox` : undefined
  const surroundings: Surroundings = { nodeNames, claims: storage.claims, runtimeClass, density }
  const others = [
    ...storage.objects,
    ...(runtimeClass ? [drawRuntimeClass(draw, runtimeClass)] : []),
    ...list(draw.below(3), index => drawBudget(draw, `${prefix}b${index}`)),
    ...list(draw.chance(0.3) ? 1 : 0, index => drawService(draw, `${prefix}s${index}`)),
  ]
  const bound = list(draw.below(9), index => drawBoundPod(draw, `${prefix}e${index}`, surroundings))
  const pods = list(draw.below(5) + 1, index => drawPod(draw, `${prefix}p${index}`, surroundings))
  const arrivals = pods.map((given): Step => {
    const { name } = given[1].metadata
    return { say: `${name} comes`, run: client => create(client, given), pod: name }
  })
  const known = { prefix, nodeNames, bound, pods, density }
  const changes = list(draw.below(mostChanges + 1), index => drawChange(draw, index, known))
  const later = list(mostChanges, (index): Given => [Node, { metadata: { name: `${prefix}m${index}` } }])
  return { seed, before: [[...nodes, ...others], bound], pods, steps: [...arrivals, ...changes], later }
}
