import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resourceName } from '@coxswain/api'
import { describeOperator } from '@coxswain/runtime'
import { createLocalCloud } from './cloud/local-cloud.ts'
import { type ControllerManagerOptions, createControllerManager } from './controller-manager.ts'
import {
  controllerNames,
  resourcesOf,
  selectControllers,
  selectServerControllers,
} from './controller-names.ts'

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

  it('has those whose resources are served', () => {
    const served = new Set(['namespaces', 'serviceaccounts', 'jobs.batch'])
    const serves = (resource: string) => served.has(resource)
    assert.deepEqual(selectControllers(['*'], serves), [
      'garbage-collector-controller',
      'namespace-controller',
      'serviceaccount-controller',
      'ttl-after-finished-controller',
    ])
    assert.throws(() => selectControllers(['job'], serves), {
      message: 'job-controller needs pods, which is not served',
    })
  })

  it('knows every resource that a controller watches', () => {
    const options = {
      rootCa: '',
      signToken: () => '',
      cloud: createLocalCloud,
      nodeRanges: { ranges: [] },
      hmac: () => new Uint8Array(),
      certificates: {},
      certificateCleaner: { expiresAt: () => 0 },
      localPath: { root: '/', remove: async () => {} },
    } as unknown as Omit<ControllerManagerOptions, 'controllers'>
    let watched = 0
    for (const name of controllerNames.filter(each => each !== 'node-ipam-controller')) {
      const needs = new Set(resourcesOf(name))
      const manager = createControllerManager({
        ...options,
        controllers: [name],
        serves: resource => needs.has(resource),
      })
      for (const { kind } of describeOperator(manager).controllers.flatMap(({ sources }) => sources)) {
        assert.ok(needs.has(resourceName(kind)), `${name} watches ${resourceName(kind)}`)
        watched++
      }
    }
    assert.ok(watched > 60, String(watched))
  })

  it('is rejected when it names an unknown controller', () => {
    assert.throws(
      () => selectControllers(['*', '-nothing']),
      /unknown controller "nothing"; known controllers: bootstrap-signer/,
    )
  })
})
