import { defineKind, s } from 'coxswain'

export const group = 'restaurant.programming-kubernetes.info'

/** What may be on a pizza, and what it costs. */
export const Topping = defineKind({
  group,
  kind: 'Topping',
  scope: 'Cluster',
  versions: { v1: { storage: true, spec: s.object({ cost: s.number({ minimum: 0 }).doc('In euros.') }) } },
})

const status = s.object({
  cost: s.number().optional().doc('The sum of its toppings.'),
  slicesLeft: s.int32().optional(),
})

/** A pizza. v1alpha1 lists its toppings by name, however often; v1beta1 counts them. */
export const Pizza = defineKind({
  group,
  kind: 'Pizza',
  shortNames: ['pz'],
  versions: {
    v1beta1: {
      storage: true,
      spec: s.object({
        toppings: s.listMap(
          ['name'],
          s.object({ name: s.string(), quantity: s.int32({ minimum: 1, maximum: 10 }).default(1) }),
        ),
      }),
      status,
    },
    v1alpha1: { spec: s.object({ toppings: s.list(s.string()) }), status },
  },
  conversions: {
    v1alpha1: {
      v1beta1: {
        to: ({ spec, status: at }) => {
          const counts = new Map<string, number>()
          for (const name of spec.toppings) counts.set(name, (counts.get(name) ?? 0) + 1)
          const toppings = [...counts].map(([name, quantity]) => ({ name, quantity }))
          return { spec: { toppings }, ...(at && { status: at }) }
        },
        from: ({ spec, status: at }) => ({
          spec: {
            toppings: spec.toppings.flatMap(({ name, quantity }) => Array<string>(quantity).fill(name)),
          },
          ...(at && { status: at }),
        }),
      },
    },
  },
})
