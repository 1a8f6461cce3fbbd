import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, manifests, type Session } from './session.ts'

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

for (const version of kubectlVersions) {
  describe(`what kubectl ${version} learns about the server`, () => {
    let session: Session
    before(async () => {
      session = await createSession(target, version, `harbor-${version.replace('.', '-')}`)
    })
    after(() => session[Symbol.dispose]())

    it('reports the versions of both sides', async () => {
      await session.ok('version', /Client Version.*v?1\.(20|36)/, /Server Version.*1\.36/)
      const both = JSON.parse(await session.ok('version -o json'))
      assert.equal(both.serverVersion.minor, '36')
      await session.ok('cluster-info', /control plane.* is running at .*https:\/\/127\.0\.0\.1:/)
    })

    it('lists groups, versions and resources', async () => {
      const versions = (await session.ok('api-versions')).split('\n')
      for (const each of ['v1', 'apps/v1', 'batch/v1', 'autoscaling/v2', 'policy/v1'])
        assert.ok(versions.includes(each), each)
      await session.ok(
        'api-resources',
        /^pods +po +v1 +true +Pod$/m,
        /^namespaces +ns +v1 +false +Namespace$/m,
      )
      await session.ok('api-resources --api-group=apps --no-headers', /^deployments +deploy +apps\/v1 +true/m)
      const cluster = (await session.ok('api-resources --namespaced=false -o name')).split('\n')
      assert.ok(
        cluster.includes('nodes') && cluster.includes('customresourcedefinitions.apiextensions.k8s.io'),
      )
      assert.ok(!cluster.includes('pods'))
      await session.ok(
        'api-resources --verbs=list,deletecollection -o wide',
        /^services +svc .*deletecollection/m,
      )
    })

    it('explains kinds and fields', async () => {
      await session.ok('explain deployment', /KIND: +Deployment/, /VERSION: +(apps\/)?v1/, /spec\t<\w+>/)
      await session.ok('explain deployment.spec.replicas', /FIELD: +replicas <integer>/)
      await session.ok('explain pods.spec.containers.image', /FIELD: +image <string>/)
      await session.ok('explain deployment --recursive', /terminationGracePeriodSeconds\t<integer>/)
      await session.fails('explain pod.spec.keel', /field "keel" does not exist/)
    })

    it('asks what it may do', async () => {
      await session.ok('auth can-i create pods', 'yes')
      await session.ok('auth can-i get /healthz', 'yes')
      await session.ok('auth can-i --list', /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
    })

    it('reads raw paths', async () => {
      await session.ok('get --raw /healthz', 'ok')
      await session.ok('get --raw /readyz?verbose', /^\[\+\]ping ok$/m, /readyz check passed/)
      assert.equal(JSON.parse(await session.ok('get --raw /version')).minor, '36')
      assert.equal(JSON.parse(await session.ok('get --raw /api/v1/namespaces/default')).kind, 'Namespace')
      await session.fails('get --raw /api/v1/nosuch', /NotFound/)
    })

    it('reads its configuration', async () => {
      await session.ok(
        'config view',
        /certificate-authority-data: DATA\+OMITTED/,
        new RegExp(`current-context: ${target.context}`),
      )
      await session.ok('config view --minify -o jsonpath={..namespace}', session.namespace)
      await session.ok(
        'config get-contexts',
        new RegExp(`^\\* +${target.context} .*${session.namespace}`, 'm'),
      )
      await session.ok('config current-context', target.context)
      await session.ok('config get-clusters', new RegExp(`^${target.context}$`, 'm'))
    })

    it('proxies requests', async () => {
      await using proxy = session.kubectl.follow('proxy', '--port=0')
      const [port] = /\d+$/.exec(await proxy.until(/Starting to serve on/)) ?? []
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/${session.namespace}`)
      assert.equal(answer.status, 200)
      const { metadata } = (await answer.json()) as { metadata: { name: string } }
      assert.equal(metadata.name, session.namespace)
    })
  })
}

describe('what only newer versions of kubectl ask', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer')
  })
  after(() => session[Symbol.dispose]())

  it('says who is asking', async () => {
    await session.ok('auth whoami', /^Username +kubernetes-admin$/m, /system:masters/)
    await session.ok('auth whoami -o jsonpath={.status.userInfo.username}', 'kubernetes-admin')
  })

  it('reconciles roles', async () => {
    const file = `-f ${manifests}/reader-role.yaml`
    const { stdout, stderr } = await session.kubectl('auth', 'reconcile', ...file.split(' '))
    assert.match(stdout + stderr, /lookout reconciled[\s\S]*missing rules added/)
    await session.ok('get role lookout -o jsonpath={.rules[0].resources}', '["pods"]')
  })

  it('explains by the older schema too', async () => {
    await session.ok('explain cronjob --output=plaintext-openapiv2', /KIND: +CronJob/, /VERSION: +batch\/v1/)
    await session.fails('explain nosuch', `the server doesn't have a resource type "nosuch"`)
  })

  it('selects resources by category', async () => {
    const names = await session.ok('api-resources --categories=all -o name')
    assert.ok(names.split('\n').includes('deployments.apps'))
    assert.ok(!names.split('\n').includes('secrets'))
  })

  it('finds no events in a quiet namespace', async () => {
    assert.match((await session.kubectl('events')).stderr, /No events found in newer namespace/)
  })

  it('dumps the cluster', async () => {
    await session.ok('cluster-info dump', /"kind": "NodeList"/, /"kind": "ReplicaSetList"/)
  })
})
