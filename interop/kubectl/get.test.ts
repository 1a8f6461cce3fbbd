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

// The versions side by side, each in a namespace of its own.
describe('get and describe', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`get and describe with kubectl ${version}`, { concurrency: 1 }, () => {
      const namespace = `dock-${version.replace('.', '-')}`
      let session: Session
      before(async () => {
        session = await createSession(target, version, namespace)
        await session.ok(
          `apply -f ${manifests}/fleet.yaml -f ${manifests}/chart.yaml -f ${manifests}/pair.yaml`,
        )
        await session.ok('create service clusterip inner --tcp=80:8080')
        await session.ok('create secret generic pass --from-literal=word=secret')
        await session.ok('create serviceaccount default')
        await session.ok('run shell --image=busybox --restart=Never --env=A=b')
        await session.ok('create role reader --verb=get --resource=pods')
        await session.ok('create rolebinding readers --role=reader --user=jane')
        await session.ok('create job once --image=busybox -- echo hi')
        await session.ok('create quota limits --hard=pods=5')
        await session.ok('create ingress site --rule=example.com/path*=inner:80')
      })
      after(() => session[Symbol.dispose]())

      it('prints tables', async () => {
        await session.ok('get deploy', /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nfleet +0\/1 +0 +0 +\d+s\n$/)
        await session.ok(
          'get deploy -o wide',
          /CONTAINERS +IMAGES +SELECTOR\n.* ship,boat +nginx:1\.25,busybox:1\.36 +app=fleet/,
        )
        await session.ok('get pod shell -o wide', /^shell +0\/1 +Pending +0 .*<none> +<none>/m)
        await session.ok('get svc inner --no-headers', /^inner +ClusterIP +10\.[\d.]+ +<none> +80\/TCP/)
        await session.ok('get cm chart --show-kind', /^configmap\/chart +2 /m)
        await session.ok('get cm --show-labels', /^chart .*set=charts$/m)
        await session.ok('get cm -L set', /^port .* pair$/m)
        await session.ok('get deploy,svc', /^deployment\.apps\/fleet /m, /^service\/inner /m)
        await session.ok('get all', /^pod\/shell /m, /^job\.batch\/once /m)
        await session.ok('get cm -A', new RegExp(`^${namespace} +chart +2 `, 'm'))
        await session.ok('get ns', new RegExp(`^${namespace} +Active`, 'm'))
      })

      it('prints objects', async () => {
        await session.ok('get deploy fleet -o yaml', /^kind: Deployment$/m, /^ {2}name: fleet$/m)
        const deployment = JSON.parse(await session.ok('get deploy fleet -o json'))
        assert.equal(deployment.spec.progressDeadlineSeconds, 600)
        const list = JSON.parse(await session.ok('get cm,svc -o json'))
        assert.equal(list.kind, 'List')
        assert.equal(list.items.length, 4)
        await session.ok(`get -f ${manifests}/chart.yaml -o jsonpath={.data.depth}`, '10')
      })

      it('prints chosen fields', async () => {
        await session.ok('get cm -o name', 'configmap/chart\nconfigmap/port\nconfigmap/starboard')
        await session.ok(
          `get cm -o 'jsonpath={range .items[*]}{.metadata.name}{";"}{end}'`,
          'chart;port;starboard;',
        )
        await session.ok(
          'get cm -o custom-columns=NAME:.metadata.name,D:.data.depth',
          /^NAME +D\nchart +10\nport +<none>\n/,
        )
        await session.ok(
          `get cm chart -o 'go-template={{range $k,$v := .data}}{{$k}}={{$v}} {{end}}'`,
          'depth=10 scale=1',
        )
        await session.ok(`get cm chart -o 'template={{.kind}}'`, 'ConfigMap')
      })

      it('selects and sorts', async () => {
        await session.ok('get cm -l set=pair -o name', 'configmap/port\nconfigmap/starboard')
        await session.ok(`get cm -l 'set notin (pair),set' -o name`, 'configmap/chart')
        await session.ok('get cm -l !set -o name', '')
        await session.ok('get pods --field-selector=status.phase=Pending -o name', 'pod/shell')
        await session.ok('get pods --field-selector=status.phase!=Pending -o name', '')
        await session.ok('get secrets --field-selector=type=Opaque -o name', 'secret/pass')
        await session.fails(
          'get cm --field-selector=data.depth=10',
          /"data.depth" is not a known field selector/,
        )
        await session.ok('get cm --sort-by={.data.depth} -o name', /configmap\/chart/)
        await session.ok('get cm --sort-by=.metadata.name', /chart[\s\S]*port[\s\S]*starboard/)
        await session.ok(
          'get cm --chunk-size=1 -o name',
          'configmap/chart\nconfigmap/port\nconfigmap/starboard',
        )
      })

      it('says what is not there', async () => {
        await session.fails('get cm nothing', 'Error from server (NotFound): configmaps "nothing" not found')
        await session.ok('get cm nothing --ignore-not-found', '')
        await session.fails('get nosuch', `error: the server doesn't have a resource type "nosuch"`)
        const { stderr } = await session.kubectl('get', 'cronjobs')
        assert.equal(stderr.trim(), `No resources found in ${namespace} namespace.`)
      })

      it('watches', async () => {
        await using watch = session.kubectl.follow('get', 'cm', '-w', '--output-watch-events')
        await watch.until(/^ADDED +starboard/)
        await session.ok('create configmap tide', 'configmap/tide created')
        await watch.until(/^ADDED +tide/)
        await session.ok('label cm tide level=high', 'configmap/tide labeled')
        await watch.until(/^MODIFIED +tide/)
        await session.ok('delete cm tide')
        await watch.until(/^DELETED +tide/)
      })

      it('watches names only', async () => {
        await using watch = session.kubectl.follow(
          'get',
          'cm',
          '--watch-only',
          '-l',
          'late=yes',
          '-o',
          'name',
        )
        // A watch without a list says nothing until something happens: repeat until it has begun.
        let seen = false
        const noticed = watch.until(/^configmap\/ebb$/).then(() => {
          seen = true
        })
        await session.ok('create configmap ebb', 'configmap/ebb created')
        for (let n = 0; !seen && n < 20; n++) await session.ok(`label cm ebb late=yes n=${n} --overwrite`)
        await noticed
        await session.ok('delete cm ebb')
      })

      it('describes workloads', async () => {
        await session.ok(
          'describe deploy fleet',
          /Replicas: +1 desired/,
          /RollingUpdateStrategy: +25% max unavailable/,
          /Image: +nginx:1\.25/,
        )
        await session.ok('describe pod shell', /Status: +Pending/, /QoS Class: +BestEffort/, /A: +b/)
        await session.ok('describe job once', /Parallelism: +1/, /Completions: +1/)
        await session.ok('describe svc inner', /Type: +ClusterIP/, /TargetPort: +8080\/TCP/)
        await session.ok('describe ingress site', /\/path +inner:80/)
      })

      it('describes configuration and access', async () => {
        await session.ok('describe cm chart', /depth:\n----\n10/)
        await session.ok('describe secret pass', /Type: +Opaque/, /word: +6 bytes/)
        await session.ok('describe role reader', /pods +\[\] +\[\] +\[get\]/)
        await session.ok(
          'describe rolebinding readers',
          /Role:\n +Kind: +Role\n +Name: +reader/,
          /User +jane/,
        )
        await session.ok('describe sa default', /Name: +default/)
        await session.ok('describe quota limits', /Namespace: +dock-/)
        await session.ok(`describe ns ${namespace}`, /Status: +Active/, /No LimitRange resource/)
        await session.ok('describe priorityclass system-node-critical', /Value: +2000001000/)
        await session.ok('describe cm -l set=pair', /Name: +port/, /Name: +starboard/)
        await session.fails('describe cm nothing', /NotFound/)
      })
    })
  }
})

describe('get as only newer versions of kubectl do', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer-dock')
    await session.ok(`apply -f ${manifests}/fleet.yaml`)
  })
  after(() => session[Symbol.dispose]())

  it('reads subresources', async () => {
    await session.ok('get deploy fleet --subresource=scale', /^NAME +DESIRED +AVAILABLE +AGE\nfleet +1 +0 /)
    await session.ok('get deploy fleet --subresource=status -o name', 'deployment.apps/fleet')
  })

  it('shows who manages which field when asked', async () => {
    await session.ok('get deploy fleet -o yaml --show-managed-fields', /manager: kubectl-client-side-apply/)
    assert.doesNotMatch(await session.ok('get deploy fleet -o yaml'), /managedFields/)
    await session.ok('get deploy fleet -o kyaml', /kind: "Deployment",/)
  })
})
