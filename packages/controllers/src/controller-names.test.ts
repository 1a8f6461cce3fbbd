import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controllerNames, selectControllers, selectServerControllers } from './controller-names.ts'

describe('a list of controllers', () => {
  it('names all, some, or all but some', () => {
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

  it('may use the names of old, as kubeadm does', () => {
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

  it('reaches what runs inside the server', () => {
    const name = 'validatingadmissionpolicy-status-controller'
    assert.deepEqual(selectServerControllers(['*']), [name])
    assert.deepEqual(selectServerControllers(['*', `-${name}`]), [])
  })

  it('is refused when it names one that there is not', () => {
    assert.throws(
      () => selectControllers(['*', '-nothing']),
      /there is no nothing; there are bootstrap-signer/,
    )
  })
})
