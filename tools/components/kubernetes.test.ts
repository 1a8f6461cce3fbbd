import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { versionInfo } from '../../packages/apiserver/src/discovery/version.ts'
import { kubernetesVersion, moduleRequiring, versionFlags } from './kubernetes.ts'

const upstream = `module k8s.io/kubernetes

go 1.26.0

require (
	github.com/spf13/cobra v1.10.0
	k8s.io/api v0.0.0
	k8s.io/klog/v2 v2.140.0
)

require (
	github.com/moby/spdystream v0.5.0 // indirect
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/client-go => ./staging/src/k8s.io/client-go
)
`

describe('the module that builds programs of Kubernetes', () => {
  it('requires what upstream requires, with each staging folder replaced by its published module', () => {
    assert.equal(
      moduleRequiring(upstream, '1.36.4'),
      `module coxswain.invalid/kubernetes

go 1.26.0

require (
	k8s.io/kubernetes v1.36.4
	github.com/spf13/cobra v1.10.0
	k8s.io/klog/v2 v2.140.0
	github.com/moby/spdystream v0.5.0
	k8s.io/api v0.36.4
	k8s.io/client-go v0.36.4
)

replace (
	k8s.io/api => k8s.io/api v0.36.4
	k8s.io/client-go => k8s.io/client-go v0.36.4
)
`,
    )
  })

  it('says so when upstream is laid out otherwise', () => {
    assert.throws(() => moduleRequiring('module k8s.io/kubernetes\n', '2.0.0'), /names no staging modules/)
  })

  it('names the version and commit that our server names, so that kubectl --match-server-version is content', () => {
    const flags = versionFlags(kubernetesVersion).split(' ')
    for (const fact of ['gitVersion', 'gitCommit', 'gitTreeState'] as const) {
      assert.ok(flags.includes(`k8s.io/component-base/version.${fact}=${versionInfo[fact]}`), fact)
    }
  })
})
