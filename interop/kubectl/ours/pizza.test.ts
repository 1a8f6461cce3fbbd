import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from '../../support/coxswain.ts'
import { createSession, type Session } from '../session.ts'

const directory = mkdtempSync(join(tmpdir(), 'pizza-'))
const main = join(root, 'examples/12-pizza/main.ts')
const child = spawn(process.execPath, [main, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
const closed = once(child, 'close')

after(async () => {
  child.kill()
  await closed
  rmSync(directory, { recursive: true })
})

describe('an API server of one’s own and kubectl 1.36', () => {
  let session: Session
  before(async () => {
    const [line] = await Promise.race([once(child.stdout, 'data'), closed])
    assert.match(String(line), /the restaurant is open at https:/)
    session = await createSession({ kubeconfig: join(directory, 'kubeconfig') }, '1.36', 'restaurant')
  })
  after(() => session[Symbol.dispose]())

  it('has pizzas to apply, get, explain and delete', async () => {
    await session.ok('apply -f examples/12-pizza/sample.yaml', /pizza\S+\/margherita created/)
    await session.ok(
      'get pizzas',
      /^NAME +TOPPINGS +SLICES +AGE$/m,
      /^margherita +2x mozzarella, 1x tomato +0 /m,
    )
    await session.ok('get pz --field-selector spec.vegetarian=true -o name', /margherita/)
    await session.ok('explain pizza.spec.toppings.quantity', /FIELD: quantity <integer>/)
    await session.ok(
      'get pizzas.v1alpha1.restaurant.programming-kubernetes.info margherita -o jsonpath={.spec.toppings}',
      '["mozzarella","mozzarella","tomato"]',
    )
    const bad = join(session.directory, 'bad.yaml')
    writeFileSync(
      bad,
      'apiVersion: restaurant.programming-kubernetes.info/v1beta1\nkind: Pizza\nmetadata: {name: bad}\nspec: {toppings: [{name: gold}]}\n',
    )
    await session.fails(`apply -f ${bad}`, /spec\.toppings\[0\]\.name: Not found: "gold"/)
  })

  it('has actions, under RBAC', async () => {
    const body = join(session.directory, 'empty.json')
    writeFileSync(body, '{}')
    const path =
      '/apis/restaurant.programming-kubernetes.info/v1beta1/namespaces/restaurant/pizzas/margherita'
    await session.ok(`create --raw ${path}/bake -f ${body}`, /"slicesLeft":8/)
    await session.ok('get pizza margherita', /^margherita .* 8 /m)
    await session.fails(
      `--as=jane create --raw ${path}/eat -f ${body}`,
      /User "jane" cannot create resource "pizzas\/eat"/,
    )
    await session.ok(
      'create role eater --verb=create --resource=pizzas.restaurant.programming-kubernetes.info/eat',
    )
    await session.ok('create rolebinding jane --role=eater --user=jane')
    await session.ok(`--as=jane create --raw ${path}/eat -f ${body}`, /"slicesLeft":7/)
    await session.ok('delete pizza margherita', /deleted/)
  })
})
