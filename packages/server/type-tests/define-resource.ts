/** Compiled, never run: what authors of API servers may and may not write. */
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import { createMemoryStorage, defineApiServer, defineResource } from '../src/index.ts'

const Pizza = defineKind({
  group: 'example.com',
  kind: 'Pizza',
  versions: {
    v1: { storage: true, spec: s.object({ topping: s.string() }), status: s.object({ slices: s.int32() }) },
    v1alpha1: { spec: s.object({ toppings: s.list(s.string()) }) },
  },
  conversions: {
    v1alpha1: {
      v1: {
        to: ({ spec }) => ({ spec: { topping: spec.toppings[0] ?? '' } }),
        from: ({ spec }) => ({ spec: { toppings: [spec.topping] } }),
      },
    },
  },
})

export const pizzas = defineResource(Pizza.v1, {
  rules: {
    prepare(pizza, old) {
      pizza.spec.topping = old?.spec.topping ?? 'cheese'
      // @ts-expect-error the old object is read-only
      if (old) old.spec.topping = ''
      // @ts-expect-error rules are over v1
      pizza.spec.toppings = []
    },
    validate(pizza, _, { objects }) {
      // @ts-expect-error validation changes nothing
      pizza.spec.topping = ''
      const other = objects.get(Pizza.v1alpha1, { namespace: 'default', name: 'b' })
      const toppings: readonly string[] | undefined = other?.spec.toppings
      void toppings
      return []
    },
    columns: { Slices: { type: 'integer', value: ({ status }) => status?.slices } },
    // @ts-expect-error values of field selectors are text
    selectableFields: { 'status.slices': ({ status }) => status?.slices },
  },
  subresources: {
    eat: {
      verbs: {
        create: async ({ object, update }) => {
          const topping: string = object.spec.topping
          const changed = await update(pizza => {
            pizza.spec.topping = topping
          })
          return { json: changed.spec }
        },
        // @ts-expect-error there is no such verb
        shout: async () => ({ json: {} }),
      },
    },
  },
})

// @ts-expect-error a version is needed
defineResource(Pizza)

defineResource(Pizza.v1, { storage: createMemoryStorage() })
defineResource(Pizza.v1, { virtual: () => [{ metadata: { name: 'a' }, spec: { topping: 'x' } }] })
// @ts-expect-error spec is missing
defineResource(Pizza.v1, { virtual: () => [{ metadata: { name: 'a' } }] })
defineApiServer({ groups: { 'example.com': [pizzas] } })
