import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { checkTypes } from '../admission/policies/type-checking.ts'
import { ControlLoop } from '../cache/control-loop.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { ignoreDeleted } from '../write/ignore-deleted.ts'
import { metadataOf } from '../write/metadata.ts'
import type { StatusPorts } from './status-ports.ts'

/** The controller name of upstream's controller manager; also the field manager of its writes. */
export const policyStatusController = 'validatingadmissionpolicy-status-controller'

/**
 * Type-checks ValidatingAdmissionPolicies and writes the result to their status. It is part of the server because
 * it needs the schemas of everything that is served.
 */
export function createPolicyStatusLoop(ports: StatusPorts): ControlLoop {
  const endpoint = ports.registry.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies')!
  const { cache } = endpoint.resource
  return new ControlLoop(ports, { name: policyStatusController, prefixes: [cache.prefix], reconcile })

  async function reconcile(name: string): Promise<void> {
    const stored = cache.get(`${cache.prefix}${name}`)
    if (!stored || !needsCheck(stored.parse())) return
    await guaranteedUpdate(ports, {
      endpoint,
      namespace: '',
      name,
      dryRun: false,
      conditional: () => false,
      change: async live => {
        if (!needsCheck(live)) return { type: 'put', object: live }
        const expressionWarnings = checkTypes(ports, live)
        const patch = {
          apiVersion: live.apiVersion,
          kind: live.kind,
          metadata: { name },
          status: {
            observedGeneration: metadataOf(live).generation,
            typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
          },
        }
        const manager = ports.fieldManagers.of(endpoint)
        const applied = { live, patch, manager: policyStatusController, subresource: 'status', force: true }
        return { type: 'put', object: manager.apply(applied) as JsonObject }
      },
    }).catch(ignoreDeleted)
  }
}

function needsCheck(policy: JsonObject): boolean {
  const status = isObject(policy.status) ? policy.status : {}
  const observed = typeof status.observedGeneration === 'number' ? status.observedGeneration : 0
  return (metadataOf(policy).generation ?? 0) > observed
}
