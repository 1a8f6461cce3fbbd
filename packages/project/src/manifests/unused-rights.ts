import type { OperatorDefinition, RecordedCall } from '@coxswain/runtime'
import { controllerGrants, grantsCall, operatorGrants, type ScopedGrant } from './grants.ts'

/** A right that an operator has by its definition, and that no test used. */
export interface UnusedRight {
  /** The controller, or the operator. */
  readonly of: string
  readonly verb: string
  /** `deployments.apps/status`, or a path outside the API. */
  readonly resource: string
}

/** Reads are for informers, which have all three whether they use them or not. */
const reads = new Set(['get', 'list', 'watch'])

/** The rights of controllers and operators to write, by what they declare, that none of the recorded calls used. */
export function unusedRights(
  definitions: readonly OperatorDefinition[],
  calls: readonly RecordedCall[],
): UnusedRight[] {
  const owners = definitions.flatMap(definition => [
    ...definition.controllers.map(each => ({ of: each.name, grants: controllerGrants(each) })),
    { of: definition.name, grants: operatorGrants(definition) },
  ])
  const unused = owners.flatMap(({ of, grants }) =>
    grants.flatMap(singleRights).flatMap(single => {
      const { groups, resources } = single
      const [verb = ''] = single.verbs
      if (reads.has(verb) || resources.join() === 'events' || calls.some(call => isUse(single, call)))
        return []
      const [group = ''] = groups
      const [resource = ''] = resources
      const [name, ...rest] = resource.split('/')
      return [{ of, verb, resource: [`${name}${group === '' ? '' : `.${group}`}`, ...rest].join('/') }]
    }),
  )
  return [...new Map(unused.map(each => [JSON.stringify(each), each])).values()]
}

function singleRights(grant: ScopedGrant): ScopedGrant[] {
  return grant.groups.flatMap(group =>
    grant.resources.flatMap(resource =>
      grant.verbs.map(verb => ({ ...grant, groups: [group], resources: [resource], verbs: [verb] })),
    ),
  )
}

/** A call without a name may have used a right for one. */
function isUse({ names: _, namespace: __, ...grant }: ScopedGrant, call: RecordedCall): boolean {
  return grantsCall(grant, call)
}
