import assert from 'node:assert/strict'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { createGarbageCollector, createNamespaceController } from '@coxswain/controllers'
import { scenariosOf } from './play.ts'
import { ConfigMap, Secret, Stage } from './stage.ts'

/** What happens to owners and namespaces, and what is there in the end. */
export interface StageScenario {
  readonly name: string
  /** What is there already when the controllers start. */
  readonly before?: (stage: Stage) => Promise<unknown>
  readonly play?: (stage: Stage) => Promise<void>
  /** See {@link Stage.state}. */
  readonly end: readonly string[]
  /** @default ConfigMaps and Secrets */
  readonly kinds?: readonly Kind[]
  /** The OwnerRefInvalidNamespace events there have to be. @default none */
  readonly events?: RegExp
  /** It keeps retrying, as it should. @default false */
  readonly keepsTrying?: boolean
  /** See `hasTroublesApart` of a scenario. @default false */
  readonly hasTroublesApart?: boolean
  /** More to look at in the end. */
  readonly check?: (stage: Stage) => Promise<void>
}

/** Tests of scenarios with the collector and the namespace controller. */
export function stageScenarios(of: string, scenarios: readonly StageScenario[]): void {
  const scenario = scenariosOf(of, {
    controllers: () => [createGarbageCollector(), createNamespaceController()],
    hasHousekeeping: false,
  })
  for (const each of scenarios) {
    const { name, before, play, end, kinds = [ConfigMap, Secret], events, check } = each
    const { keepsTrying = false, hasTroublesApart = false } = each
    scenario(name, {
      before: async cluster => await before?.(new Stage(cluster)),
      act: async cluster => {
        await cluster.advance(8_000)
        await play?.(new Stage(cluster))
      },
      look: async cluster => {
        const stage = new Stage(cluster)
        await check?.(stage)
        const reasons = await stage.eventReasons()
        if (events) assert.match(reasons.join('\n'), events)
        else assert.deepEqual(reasons, [])
        return await stage.state(kinds)
      },
      end: [...end].sort(),
      keepsTrying,
      hasTroublesApart,
    })
  }
}
