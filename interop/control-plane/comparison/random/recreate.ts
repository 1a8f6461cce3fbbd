import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Action, Draw } from './draw.ts'

/** Deletes an object one way or another and, once it is deleted and all is at rest, creates it again as `create` does. */
export function recreate(draw: Draw, kind: Kind, name: string, create: (draw: Draw) => Action): Action {
  const propagationPolicy = draw.pick(['Background', 'Foreground', 'Orphan'] as const)
  const next = create(draw)
  return {
    say: `deleted ${propagationPolicy}, ${next.say}`,
    run: async stage => {
      await stage.remove(kind, name, { propagationPolicy }).catch(() => {})
      await stage.until('it is deleted', async () => !(await stage.get(kind, name)))
      await stage.settle()
      await next.run(stage)
    },
  }
}
