import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Container, Pod, PodSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../../decoded.ts'
import { podStrategy } from '../pod.ts'
import { ephemeralContainers, resize } from '../subresources.ts'
import { validatePodUpdate } from './pod-update.ts'

function makePod(spec: Decoded<PodSpec> = {}): Decoded<Pod> {
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } }
  const pod: Decoded<Pod> = {
    metadata: { name: 'p', namespace: 'n', generation: 1 },
    spec: { containers: [{ name: 'main', image: 'nginx', resources }], ...spec },
    status: { qosClass: 'Burstable' },
  }
  podStrategy.default!(pod)
  return pod
}

function changed(pod: Decoded<Pod>, change: (spec: Decoded<PodSpec>) => void): Decoded<Pod> {
  const copy = deepClone(pod) as Decoded<Pod>
  change(copy.spec ?? {})
  return copy
}

const firstContainer = (spec: Decoded<PodSpec>): Decoded<Container> => (spec.containers ?? [])[0]!
const texts = (errors: Iterable<Parameters<typeof field.formatFieldError>[0]>): string[] =>
  [...errors].map(field.formatFieldError)

describe('a change of a pod', () => {
  const pod = makePod({ tolerations: [{ key: 'a', operator: 'Exists' }] })
  const problems = (change: (spec: Decoded<PodSpec>) => void): string[] =>
    texts(validatePodUpdate(changed(pod, change), pod))

  it('may give another image, and tolerate more', () => {
    assert.deepEqual(
      problems(spec => {
        firstContainer(spec).image = 'nginx:2'
        spec.tolerations = [...(spec.tolerations as JsonObject[]), { key: 'b', operator: 'Exists' }]
      }),
      [],
    )
  })

  it('may not tolerate less', () => {
    assert.deepEqual(
      problems(spec => {
        spec.tolerations = []
      }),
      ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    )
  })

  it('is refused for everything else, with the difference', () => {
    const [problem] = problems(spec => {
      spec.nodeName = 'n1'
    })
    assert.match(problem!, /^spec: Forbidden: pod updates may not change fields other than/)
    assert.match(problem!, /\n- "NodeName": "",\n\+ "NodeName": "n1",\n/)
  })

  it('takes deadlines back only towards now', () => {
    const before = makePod({ activeDeadlineSeconds: 10 })
    const later = changed(before, spec => {
      spec.activeDeadlineSeconds = 11
    })
    assert.deepEqual(texts(validatePodUpdate(later, before)), [
      'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
    ])
  })

  it('narrows the choice of nodes while the pod is gated', () => {
    const gated = makePod({ schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { x: 'y' } })
    const set = (nodeSelector: Record<string, string>) =>
      texts(
        validatePodUpdate(
          changed(gated, spec => {
            spec.nodeSelector = nodeSelector
          }),
          gated,
        ),
      )
    assert.deepEqual(set({ x: 'y', z: 'w' }), [])
    assert.match(set({ x: 'z' })[0]!, /only additions to spec\.nodeSelector are allowed/)
  })
})

describe('pods/ephemeralcontainers', () => {
  it('lets nothing but the ephemeral containers through', () => {
    const old = makePod()
    const next = changed(old, spec => {
      spec.nodeName = 'n1'
      spec.ephemeralContainers = [{ name: 'debug', image: 'x' }]
    })
    ephemeralContainers.prepareForUpdate(next, old, {} as never)
    const spec = next.spec ?? {}
    assert.equal(spec.nodeName, undefined)
    assert.equal(spec.ephemeralContainers?.length, 1)
    assert.equal(next.metadata.generation, 2)
  })

  it('takes none away', () => {
    const old = makePod({ ephemeralContainers: [{ name: 'debug', image: 'x' }] })
    const next = changed(old, spec => {
      delete spec.ephemeralContainers
    })
    assert.deepEqual(texts(ephemeralContainers.validateUpdate(next, old, {} as never)), [
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
    ])
  })
})

describe('pods/resize', () => {
  const old = makePod()
  const resized = (requests: Record<string, string>, limits: Record<string, string>): string[] => {
    const next = changed(old, spec => {
      firstContainer(spec).resources = { requests, limits }
    })
    resize.prepareForUpdate(next, old, {} as never)
    return texts(resize.validateUpdate(next, old, {} as never))
  }

  it('changes cpu and memory', () => {
    assert.deepEqual(resized({ cpu: '150m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' }), [])
  })

  it('changes nothing that was not there, and not the class of the pod', () => {
    assert.deepEqual(resized({ cpu: '200m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' }), [
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    ])
    const removed = resized({ cpu: '100m' }, { cpu: '200m', memory: '64Mi' })
    assert.ok(
      removed.includes(
        'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
      ),
    )
  })
})
