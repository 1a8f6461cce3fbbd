import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinResources } from './builtin-resources.ts'
import { resourceName, selectResources } from './select-resources.ts'

const namesOf = (...selectors: string[]) => selectResources(selectors).map(resourceName)

describe('a list of kinds', () => {
  it('selects all, and the generic ones, in the order of discovery', () => {
    assert.equal(selectResources(['all']), builtinResources())
    assert.equal(selectResources(['generic', 'all']), builtinResources())
    const generic = namesOf('generic')
    for (const name of [
      'configmaps',
      'customresourcedefinitions.apiextensions.k8s.io',
      'leases.coordination.k8s.io',
    ])
      assert.ok(generic.includes(name), name)
    for (const name of ['pods', 'nodes', 'services', 'deployments.apps', 'limitranges', 'podtemplates'])
      assert.ok(!generic.includes(name), name)
    assert.deepEqual(
      generic,
      builtinResources()
        .map(resourceName)
        .filter(name => generic.includes(name)),
    )
  })

  it('has namespaces whatever it names', () => {
    assert.deepEqual(namesOf('secrets'), ['namespaces', 'secrets'])
    assert.deepEqual(namesOf('namespaces'), ['namespaces'])
    assert.ok(namesOf('generic', 'services').includes('services'))
  })

  it('is rejected when it names an unknown kind, with the name that was meant', () => {
    const failsWith = (message: string, ...selectors: string[]) =>
      assert.throws(() => selectResources(selectors), { message })
    failsWith('unknown kind "Pod"; did you mean pods?', 'generic', 'Pod')
    failsWith('unknown kind "deploy"; did you mean deployments.apps?', 'deploy')
    failsWith('unknown kind "pods.apps"; did you mean pods?', 'pods.apps')
    failsWith(
      'unknown kind "orders.shop"; use all, generic, or names such as deployments.apps',
      'orders.shop',
    )
    failsWith('no kinds: use all, generic, or names such as deployments.apps')
  })
})
