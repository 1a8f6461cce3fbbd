import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, PodSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../../decoded.ts'
import { podStrategy } from '../pod.ts'
import { validateNewPod, validatePodTemplate } from './pod-spec.ts'

function podOf(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  const pod: JsonObject = {
    metadata: { name: 'p', namespace: 'n', ...metadata },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  }
  podStrategy.default!(pod)
  return pod
}

const problems = (spec: JsonObject, metadata?: JsonObject): string[] =>
  [...validateNewPod(podOf(spec, metadata) as Decoded<Pod>)].map(field.formatFieldError)

const container = (members: JsonObject): JsonObject => ({
  containers: [{ name: 'main', image: 'nginx', ...members }],
})

describe('the specification of a pod', () => {
  it('is fine with one container', () => {
    assert.deepEqual(problems({}), [])
  })

  it('needs containers with different names', () => {
    assert.deepEqual(problems({ containers: [] }), ['spec.containers: Required value'])
    const twice = [
      { name: 'a', image: 'x' },
      { name: 'a', image: 'y' },
    ]
    assert.deepEqual(problems({ containers: twice }), ['spec.containers[1].name: Duplicate value: "a"'])
    assert.deepEqual(problems({ initContainers: [{ name: 'main', image: 'x' }] }), [
      'spec.initContainers[0].name: Duplicate value: "main"',
    ])
  })

  it('mounts only volumes that it has, each path once', () => {
    const mounts = [
      { name: 'a', mountPath: '/x' },
      { name: 'b', mountPath: '/x' },
    ]
    assert.deepEqual(problems({ ...container({ volumeMounts: mounts }), volumes: [{ name: 'a' }] }), [
      'spec.containers[0].volumeMounts[1].name: Not found: "b"',
      'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
    ])
  })

  it('has one source a volume', () => {
    const volumes = [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }]
    assert.deepEqual(problems({ volumes }), [
      'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
    ])
  })

  it('has one handler a probe', () => {
    const livenessProbe = { httpGet: { port: 80 }, exec: { command: ['true'] } }
    assert.deepEqual(problems(container({ livenessProbe })), [
      'spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type',
    ])
  })

  it('asks for no more than its limits, and for extended resources exactly that', () => {
    const resources = { requests: { cpu: '2', 'a.com/x': '1' }, limits: { cpu: '1', 'a.com/x': '2' } }
    assert.deepEqual(problems(container({ resources })), [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      'spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.com/x limit of 2',
    ])
  })

  it('does not use two host ports for the same thing', () => {
    const ports = [
      { containerPort: 80, hostPort: 8080 },
      { containerPort: 81, hostPort: 8080 },
    ]
    assert.deepEqual(problems(container({ ports })), [
      'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//8080"',
    ])
  })

  it('shows the fields of the pod that a variable may show', () => {
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.restartPolicy' } } }]
    const [problem] = problems(container({ env }))
    assert.match(
      problem!,
      /^spec\.containers\[0\]\.env\[0\]\.valueFrom\.fieldRef\.fieldPath: Unsupported value/,
    )
    const label = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }]
    assert.deepEqual(problems(container({ env: label })), [])
  })

  it('sets what its operating system has', () => {
    const spec = { os: { name: 'windows' }, hostPID: true, securityContext: { runAsUser: 1 } }
    assert.deepEqual(problems(spec), [
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
      'spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    ])
  })

  it('wants a server when DNS is its own business', () => {
    assert.deepEqual(problems({ dnsPolicy: 'None' }), [
      'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
    ])
  })

  it('comes without a node while it is gated', () => {
    assert.deepEqual(problems({ nodeName: 'n', schedulingGates: [{ name: 'a.b/c' }] }), [
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ])
  })

  it('says the same in annotations and fields', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' }
    const securityContext = { appArmorProfile: { type: 'RuntimeDefault' } }
    assert.deepEqual(problems(container({ securityContext }), { annotations }), [
      'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
    ])
  })
})

describe('a pod template', () => {
  it('is judged like a pod, and has no ephemeral containers', () => {
    const { spec } = podOf({ ephemeralContainers: [{ name: 'debug', image: 'x' }] })
    const errors = [
      ...validatePodTemplate({ spec: spec as Decoded<PodSpec> }, field.Path.of('spec', 'template')),
    ]
    assert.deepEqual(errors.map(field.formatFieldError), [
      'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ])
  })

  it('may leave a host port open on the network of the host', () => {
    const spec = { containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80, hostPort: 81 }] }] }
    const { spec: full } = podOf({ ...spec, hostNetwork: true })
    const [error] = [...validatePodTemplate({ spec: full as JsonObject }, field.Path.of('template'))]
    assert.equal(
      error && field.formatFieldError(error),
      'template.spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
    )
  })
})
