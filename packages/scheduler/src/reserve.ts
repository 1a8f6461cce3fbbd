import type { Attempt } from './cycle.ts'
import type { NodeInfo } from './node-info.ts'
import type { Verdict } from './plugin.ts'
import type { PermitWait } from './waiting-pods.ts'

/** Runs the reserve and permit plug-ins: resolves with the waits, or a verdict. */
export function reserve(attempt: Attempt, node: NodeInfo): readonly PermitWait[] | Verdict {
  const { profile } = attempt
  try {
    for (const plugin of profile.at('reserve')) {
      const verdict = plugin.reserve(attempt, node)
      if (verdict) return { ...verdict, plugin: plugin.name }
    }
    const waits: PermitWait[] = []
    for (const plugin of profile.at('permit')) {
      const answer = plugin.permit(attempt, node)
      if (answer === undefined) continue
      if (!('wait' in answer)) return { ...answer, plugin: plugin.name }
      waits.push({ ms: answer.wait, plugin: plugin.name })
    }
    return waits
  } catch (error) {
    return { code: 'Error', reasons: [(error as Error).message] }
  }
}
