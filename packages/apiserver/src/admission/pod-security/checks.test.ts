import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { type Level, violationsOf } from './checks.ts'

const texts = (level: Level, spec: JsonObject, annotations: JsonObject = {}): string[] =>
  violationsOf(level, { annotations }, spec).map(({ reason, detail }) => `${reason} (${detail})`)

const confined = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'c',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
}

describe('pod security levels', () => {
  it('admit everything as privileged, and a restricted pod everywhere', () => {
    assert.deepEqual(texts('privileged', { hostPID: true, containers: [] }), [])
    assert.deepEqual(texts('restricted', confined), [])
  })

  it('reject host access from baseline on', () => {
    const spec = {
      hostNetwork: true,
      hostPID: true,
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
      containers: [
        { name: 'a', ports: [{ hostPort: 80 }, { hostPort: 81 }] },
        { name: 'b', securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN'] } } },
      ],
    }
    assert.deepEqual(texts('baseline', spec), [
      'non-default capabilities (container "b" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
      'host namespaces (hostNetwork=true, hostPID=true)',
      'hostPath volumes (volume "v")',
      'hostPort (container "a" uses hostPorts 80, 81)',
      'privileged (container "b" must not set securityContext.privileged=true)',
    ])
  })

  it('require a restricted pod to state its restrictions', () => {
    assert.deepEqual(texts('restricted', { containers: [{ name: 'c' }] }), [
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"])',
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ])
  })

  it('report a volume type once, by the stricter check', () => {
    const spec = { ...confined, volumes: [{ name: 'v', hostPath: { path: '/' } }] }
    assert.deepEqual(texts('restricted', spec), [
      'restricted volume types (volume "v" uses restricted volume type "hostPath")',
    ])
  })

  it('let a pod with a user namespace run as root', () => {
    const { runAsNonRoot: _, ...securityContext } = confined.securityContext
    assert.deepEqual(texts('restricted', { ...confined, securityContext, hostUsers: false }), [])
  })
})
