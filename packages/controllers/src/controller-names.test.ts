import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controllerNames, selectControllers, selectServerControllers } from './controller-names.ts'

describe('a list of controllers', () => {
  it('selects all, some, or all but some', () => {
    assert.deepEqual(selectControllers(['*']), controllerNames)
    assert.deepEqual(selectControllers(['none']), [])
    assert.deepEqual(selectControllers(['job-controller', 'cronjob-controller']), [
      'cronjob-controller',
      'job-controller',
    ])
    const rest = selectControllers(['*', '-job-controller'])
    assert.equal(rest.length, controllerNames.length - 1)
    assert.ok(!rest.includes('job-controller'))
  })

  it('accepts the old names, as kubeadm writes them', () => {
    assert.deepEqual(selectControllers(['bootstrapsigner', 'tokencleaner', 'ttl', 'service']), [
      'bootstrap-signer-controller',
      'service-lb-controller',
      'token-cleaner-controller',
      'ttl-controller',
    ])
    assert.ok(
      !selectControllers(['*', '-pvc-protection']).includes('persistentvolumeclaim-protection-controller'),
    )
  })

  it('applies to controllers inside the server', () => {
    const name = 'validatingadmissionpolicy-status-controller'
    assert.deepEqual(selectServerControllers(['*']), [name])
    assert.deepEqual(selectServerControllers(['*', `-${name}`]), [])
  })

  it('is rejected when it names an unknown controller', () => {
    assert.throws(
      () => selectControllers(['*', '-nothing']),
      /unknown controller "nothing"; known controllers: bootstrap-signer/,
    )
  })
})
