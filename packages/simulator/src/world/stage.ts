import { Namespace } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { type Client, kindFor } from '@coxswain/client'
import { type Clock, VirtualWorld } from '@coxswain/kit'
import { describeOperator, type Operator } from '@coxswain/runtime'
import { type ClusterOptions, type ClusterSnapshot, startCluster } from '@coxswain/testing'
import {
  type GeneratedScenario,
  generateScenarios,
  otherNamespace,
  type Sample,
  type Validator,
} from '../scenario/generate.ts'
import type { ServiceHandler } from './services.ts'

/** What a scenario works with. */
export interface ScenarioContext {
  /** A user's client, with an administrator's rights. */
  readonly client: Client
  readonly clock: Clock
  /** Serves a host outside of the cluster: `fetch` of the operator leads there. */
  readonly service: (host: string, handler: ServiceHandler) => void
  /** Resolves when the operator has not written for a while. */
  readonly settle: () => Promise<void>
}

/** What users do while the operator runs. */
export type Scenario = (context: ScenarioContext) => Promise<void>

/** Throws, or rejects, when something holds that never may. Asked after every write to the cluster. */
export type Invariant = (context: Pick<ScenarioContext, 'client' | 'clock'>) => Promise<void> | void

/** How the author sets a simulation up, as far as single runs are concerned. */
export interface StageOptions {
  readonly operator: Operator
  /** What users do. @default the simulator makes scenarios from the kinds of the operator */
  readonly scenario?: Scenario
  /** Objects to begin with where there is no scenario; other values come from the schemas of the kinds. */
  readonly samples: readonly Sample[]
  readonly always: readonly Invariant[]
  readonly replicas: number
  readonly cluster: Omit<ClusterOptions, 'env' | 'log' | 'from'>
  /** Makes the handler of a host outside of the cluster, anew for each run. */
  readonly services: Readonly<Record<string, () => ServiceHandler>>
  /** What matters of the end. @default everything that the operator wrote, and the objects it reconciles */
  readonly desired?: (context: Pick<ScenarioContext, 'client' | 'clock'>) => Promise<unknown>
}

/** Everything that all runs of a simulation have in common. */
export interface Stage extends StageOptions {
  /** A cluster with the definitions of the operator's kinds: each run starts from it. */
  readonly snapshot: ClusterSnapshot
  /** The kinds that the operator reconciles. */
  readonly kinds: readonly Kind[]
  /** What users may do, where the author has no scenario. */
  readonly scenarios: readonly GeneratedScenario[]
}

/** No run has this seed: with the seed of a run, objects of the run would get uids that objects of the snapshot have already. */
const bootSeed = -1

/** Boots a cluster with the definitions of the operator's kinds, once for all runs. */
export async function prepareStage(options: StageOptions): Promise<Stage> {
  await using cluster = await startCluster({ ...options.cluster, env: new VirtualWorld({ seed: bootSeed }) })
  await cluster.install(options.operator)
  await cluster.run(cluster.client.create(Namespace, { metadata: { name: otherNamespace } }))
  await cluster.advance(1_000)
  const { controllers } = describeOperator(options.operator)
  const kinds = [...new Set(controllers.flatMap(({ for: kind }) => kind ?? []))]
  const isValid: Validator = async (kind, object) => {
    const metadata = {
      ...(object.metadata as { name: string }),
      ...(kind.namespaced && { namespace: 'default' }),
    }
    const creation = cluster.client.create(kindFor(kind), { ...object, metadata }, { dryRun: true })
    return await cluster.run(creation).then(
      () => true,
      () => false,
    )
  }
  const scenarios = options.scenario ? [] : await generateScenarios(kinds, options.samples, isValid)
  return { ...options, kinds, scenarios, snapshot: await cluster.snapshot() }
}
