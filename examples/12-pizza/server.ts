import { field, StatusError } from 'coxswain'
import { defineApiServer, defineResource } from 'coxswain/server'
import { group, Pizza, Topping } from './kinds.ts'

const slices = 8

export const pizzas = defineResource(Pizza.v1beta1, {
  rules: {
    /** No CRD can do this: a pizza has toppings that exist now, as other objects of this server. */
    *validate(pizza, _, { objects }) {
      const path = field.Path.of('spec', 'toppings')
      for (const [index, { name }] of pizza.spec.toppings.entries())
        if (!objects.get(Topping.v1, { name })) yield field.notFound(path.index(index).child('name'), name)
    },
    *warn(pizza) {
      if (pizza.spec.toppings.some(({ name }) => name === 'pineapple'))
        yield 'pineapple on a pizza: are you sure?'
    },
    columns: {
      Toppings: {
        value: ({ spec }) => spec.toppings.map(({ name, quantity }) => `${quantity}x ${name}`).join(', '),
      },
      Slices: { type: 'integer', value: ({ status }) => status?.slicesLeft ?? 0 },
    },
    selectableFields: {
      'spec.vegetarian': ({ spec }) => String(spec.toppings.every(({ name }) => name !== 'salami')),
    },
  },
  subresources: {
    /** An action: `kubectl create --raw .../pizzas/NAME/bake -f -` */
    bake: {
      kind: 'Pizza',
      verbs: {
        create: async ({ updateStatus, objects }) => {
          const baked = await updateStatus(pizza => {
            const cost = pizza.spec.toppings.reduce(
              (sum, { name, quantity }) =>
                sum + quantity * (objects.get(Topping.v1, { name })?.spec.cost ?? 0),
              0,
            )
            pizza.status = { cost, slicesLeft: slices }
          })
          return { json: baked, status: 201 }
        },
      },
    },
    /** One slice, and never one too many, however many eat at once. */
    eat: {
      kind: 'Pizza',
      verbs: {
        create: async ({ updateStatus }) => ({
          json: await updateStatus(pizza => {
            const left = pizza.status?.slicesLeft ?? 0
            if (left === 0)
              throw new StatusError({
                apiVersion: 'v1',
                kind: 'Status',
                metadata: {},
                status: 'Failure',
                reason: 'Conflict',
                message: `pizza ${pizza.metadata.name} has no slices left`,
                code: 409,
              })
            pizza.status = { ...pizza.status, slicesLeft: left - 1 }
          }),
        }),
      },
    },
  },
})

/** Importing it starts nothing: `main.ts` does. */
export default defineApiServer({ groups: { [group]: [defineResource(Topping.v1), pizzas] } })
