import { ClusterRole } from '@coxswain/api/rbac/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { ApplyOf, KindOf } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { defineOperator, type Operator } from '@coxswain/runtime'

type Role = DeepReadonly<KindOf<typeof ClusterRole>>
type ApplyRules = NonNullable<ApplyOf<typeof ClusterRole>['rules']>
type Rule = NonNullable<Role['rules']>[number]

const fieldManager = 'clusterrole-aggregation-controller'

/** Aggregates the rules of cluster roles into those that select them by label. */
export function createClusterRoleAggregationController(): Operator {
  return defineOperator(fieldManager, operator => {
    operator
      .controller('clusterrole-aggregation')
      .for(ClusterRole)
      // A role may have changed its labels: every aggregating role is reconciled.
      .watches(ClusterRole, (_role, lookup) =>
        lookup
          .list(ClusterRole)
          .filter(({ aggregationRule }) => aggregationRule)
          .map(({ metadata }) => ({ name: metadata.name! })),
      )
      .reconcile(async ({ key, client }) => {
        const role = await client.get(ClusterRole, key)
        if (!role?.aggregationRule) return
        const { items } = await client.list(ClusterRole)
        const rules = gatherRules(role, items)
        if (deepEqual(rules, role.rules ?? [])) return
        await client.apply(
          ClusterRole,
          { metadata: { name: key.name }, rules: structuredClone(rules) as ApplyRules },
          { fieldManager, force: true },
        )
      })
  })
}

/** In the order of the selectors, then of role names; without duplicates. */
export function gatherRules(role: Role, roles: readonly Role[]): Rule[] {
  const sorted = roles.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const rules: Rule[] = []
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = labelSelectorAsSelector(selector)
    for (const { metadata, rules: found } of sorted) {
      if (metadata.name === role.metadata.name || !matcher.matches(metadata.labels)) continue
      for (const rule of found ?? []) if (!rules.some(known => deepEqual(known, rule))) rules.push(rule)
    }
  }
  return rules
}
