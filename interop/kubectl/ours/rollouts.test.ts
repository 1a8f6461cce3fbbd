import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createClusterSession, deleted, manifests, type Session } from '../session.ts'

// Rollouts need controllers, a scheduler and nodes, which the reference is run without.
let server: RunningServer

before(async () => {
  server = await startServer('--nodes', '3', '--missing-images', 'example.com/none:1')
})
after(() => server[Symbol.asyncDispose]())

/** A namespace of its own with what a manifest has, so that groups of tests may run side by side. */
function workIn(namespace: string, manifest?: string): Session {
  let session: Session
  before(async () => {
    session = await createClusterSession(server, '1.36', namespace)
    if (manifest) await session.ok(`apply -f ${manifests}/${manifest}`)
  })
  after(() => session[Symbol.dispose]())
  return new Proxy({} as Session, { get: (_, name) => Reflect.get(session, name) })
}

const one = { concurrency: 1 }

describe('workloads', { concurrency: 4 }, () => {
  describe('a Deployment', one, () => {
    const session = workIn('rollout-deployment', 'rolling.yaml')
    const image = '-o jsonpath={.spec.template.spec.containers[0].image}'

    it('is rolled out, pod by pod, before the eyes of who watches', async () => {
      await session.ok('rollout status deploy/sail --timeout=120s', /"sail" successfully rolled out/)
      await session.ok('get deploy sail', /^sail +4\/4 +4 +4 /m)
      await using watch = session.kubectl.follow('get', 'deploy', 'sail', '-w')
      await watch.until(/^sail +4\/4/)
      await session.ok('annotate deploy sail kubernetes.io/change-cause=first')
      await session.ok('set image deploy/sail sail=sail:2', 'deployment.apps/sail image updated')
      await session.ok('rollout status deploy/sail --timeout=120s', /"sail" successfully rolled out/)
      await session.ok('annotate deploy sail kubernetes.io/change-cause=second --overwrite')
      await watch.until(/^sail +\d\/4 +[123] /)
      await watch.until(/^sail +4\/4 +4 +4 /)
      const available = watch.lines.filter(line => line.startsWith('sail')).map(line => line.split(/\s+/)[3])
      assert.ok(
        available.every(count => Number(count) >= 3),
        `maxUnavailable was overstepped: ${available}`,
      )
    })

    it('has a history, and goes back in it', async () => {
      await session.ok('rollout history deploy/sail', /^1 +first\n2 +second$/m)
      await session.ok('rollout history deploy/sail --revision=1', /Image:\s+sail:1/)
      await session.ok('rollout undo deploy/sail --dry-run=server', /rolled back \(server dry run\)/)
      await session.ok('rollout undo deploy/sail', 'deployment.apps/sail rolled back')
      await session.ok('rollout status deploy/sail --timeout=120s', /successfully rolled out/)
      await session.ok(`get deploy sail ${image}`, 'sail:1')
      await session.ok('rollout history deploy/sail', /^2 +second\n3 +first$/m)
      await session.ok('rollout undo deploy/sail --to-revision=2')
      await session.ok('rollout status deploy/sail --timeout=120s')
      await session.ok(`get pods -l app=sail -o jsonpath={.items[*].spec.containers[0].image}`, /sail:2/)
      await session.fails(
        'rollout undo deploy/sail --to-revision=9',
        /unable to find specified revision 9 in history/,
      )
      await session.ok('get rs -l app=sail', /( +0){3} .*\n.*( +4){3} |( +4){3} .*\n.*( +0){3} /)
    })

    it('waits while it is paused', async () => {
      await session.ok('rollout pause deploy/sail')
      await session.ok('set env deploy/sail WIND=west')
      await session.ok('set resources deploy/sail --requests=cpu=10m', /resource requirements updated/)
      await session.until('get deploy sail', /^sail +4\/4 +0 +4 /m) // none of the new template
      await session.until(
        'describe deploy sail',
        /Progressing +Unknown +DeploymentPaused/,
        /NewReplicaSet: +<none>/,
      )
      await using status = session.kubectl.follow('rollout', 'status', 'deploy/sail')
      await status.until(/Waiting for deployment "sail" rollout to finish: 0 out of 4 new replicas have been/)
      await session.ok('rollout resume deploy/sail')
      await status.until(/[123] out of 4 new replicas have been updated/)
      await status.until(/"sail" successfully rolled out/)
      await session.ok('rollout history deploy/sail', /^5 +second$/m) // one revision for both changes
      await session.ok('get pods -l app=sail -o jsonpath={.items[*].spec.containers[0].env[0].value}', /west/)
    })

    it('is restarted', async () => {
      // Those of the last rollout may still be ending.
      const four = await session.until('get pods -l app=sail -o name', /^(\S+\n){4}$/)
      const old = four.trim().split('\n')
      await session.ok('rollout restart deploy/sail')
      await session.ok(`wait --for=delete ${old.join(' ')} --timeout=120s`)
      await session.ok('rollout status deploy/sail --timeout=120s')
      await session.ok('get deploy sail', /^sail +4\/4 +4 +4 /m)
    })

    it('stands still when its pods do not get ready, and says so in time', async () => {
      await session.ok('patch deploy sail -p {"spec":{"progressDeadlineSeconds":2}}')
      await session.ok('set image deploy/sail sail=example.com/none:1')
      await session.fails(
        'rollout status deploy/sail --timeout=120s',
        /deployment "sail" exceeded its progress deadline/,
      )
      await session.until('get pods -l app=sail', /0\/1 +(ImagePullBackOff|ErrImagePull) /)
      await session.until(
        'describe deploy sail',
        /Progressing +False +ProgressDeadlineExceeded/,
        /Replicas: +4 desired \| 2 updated \| 5 total \| 3 available \| 2 unavailable/,
      )
      await session.ok('patch deploy sail -p {"spec":{"progressDeadlineSeconds":600}}')
      await session.ok('rollout undo deploy/sail')
      await session.ok('rollout status deploy/sail --timeout=120s')
    })

    it('scales only from as many as it is thought to have', async () => {
      await session.fails(
        'scale deploy/sail --current-replicas=3 --replicas=1',
        /Expected replicas to be 3, was 4/,
      )
      await session.ok('scale deploy/sail --current-replicas=4 --replicas=1 --timeout=120s')
      await session.ok('wait deploy/sail --for=jsonpath={.status.replicas}=1 --timeout=120s')
      await session.until('describe deploy sail', /ScalingReplicaSet .*deployment-controller +Scaled down/)
    })
  })

  describe('a DaemonSet', one, () => {
    const session = workIn('rollout-daemonset', 'rolling-daemon.yaml')

    it('is rolled out, undone and restarted', async () => {
      await session.ok('rollout status ds/watch --timeout=120s', /daemon set "watch" successfully rolled out/)
      await session.ok('get ds watch', /^watch( +3){5} +<none> /m)
      await session.ok('set image ds/watch watch=example.com/none:1')
      await using status = session.kubectl.follow('rollout', 'status', 'ds/watch')
      await status.until(
        /Waiting for daemon set "watch" rollout to finish: 1 out of 3 new pods have been updated/,
      )
      await session.ok('set image ds/watch watch=watch:2')
      await status.until(/daemon set "watch" successfully rolled out/)
      await session.ok('rollout history ds/watch', /^1 +<none>\n2 +<none>\n3 +<none>$/m)
      await session.ok('rollout history ds/watch --revision=3', /Image:\s+watch:2/)
      await session.ok('rollout undo ds/watch --to-revision=1')
      await session.ok('rollout status ds/watch --timeout=120s')
      await session.ok('rollout history ds/watch', /^2 +<none>\n3 +<none>\n4 +<none>$/m)
      await session.ok('get pods -o jsonpath={.items[*].spec.containers[0].image}', 'watch:1 watch:1 watch:1')
      await session.ok('rollout restart ds/watch')
      await session.ok('rollout status ds/watch --timeout=120s')
      await session.ok('get pods -o yaml', /kubectl\.kubernetes\.io\/restartedAt/)
      await session.until(
        'describe ds watch',
        /Desired Number of Nodes Scheduled: 3/,
        /Number of Nodes Scheduled with Available Pods: 3/,
        /SuccessfulCreate .*daemonset-controller +Created pod: watch-/,
      )
    })
  })

  describe('a StatefulSet', one, () => {
    const session = workIn('rollout-statefulset', 'rolling-stateful.yaml')

    it('is rolled out from the last to the first, undone and restarted', async () => {
      await session.ok('rollout status sts/mast --timeout=120s', /2 new pods have been updated/)
      await session.ok('get sts mast', /^mast +2\/2 /m)
      await session.ok('get pvc', /^spar-mast-0 +Bound .*\nspar-mast-1 +Bound /m)
      await using watch = session.kubectl.follow('get', 'pods', '-w', '-o', 'name')
      await watch.until(/^pod\/mast-1$/)
      const listed = watch.lines.length
      await session.ok('set image sts/mast mast=mast:2')
      await session.ok('rollout status sts/mast --timeout=120s')
      await session.ok('get pods -o jsonpath={.items[*].spec.containers[0].image}', 'mast:2 mast:2')
      assert.equal(watch.lines[listed], 'pod/mast-1')
      await session.ok('rollout history sts/mast', /^1 +<none>\n2 +<none>$/m)
      await session.ok('rollout undo sts/mast')
      await session.ok('rollout status sts/mast --timeout=120s')
      await session.ok('get pods -o jsonpath={.items[*].spec.containers[0].image}', 'mast:1 mast:1')
      await session.ok('rollout restart sts/mast')
      await session.ok('rollout status sts/mast --timeout=120s')
      await session.until(
        'describe sts mast',
        /Pods Status: +2 Running \/ 0 Waiting/,
        /SuccessfulCreate .*statefulset-controller +.*Pod mast-0 in StatefulSet mast successful/,
      )
      await session.ok('scale sts mast --replicas=1 --current-replicas=2')
      await session.ok('wait --for=delete pod/mast-1 --timeout=120s')
      await session.ok('get pvc -o name', /spar-mast-0\n.*spar-mast-1/)
    })
  })

  describe('a Job and what makes it', one, () => {
    const session = workIn('rollout-job', 'rolling-jobs.yaml')

    it('runs to its end', async () => {
      await session.ok(
        'wait job/knots --for=condition=complete --timeout=120s',
        'job.batch/knots condition met',
      )
      await session.ok('get job knots', /^knots +Complete +3\/3 +\d+s /m)
      await session.until(
        'describe job knots',
        /Pods Statuses: +0 Active \(0 Ready\) \/ 3 Succeeded \/ 0 Failed/,
        /Completed .*job-controller +Job completed/,
      )
      await session.ok('get pods -l job-name=knots', /(knots-\d-\w+ +0\/1 +Completed .*\n){3}/)
    })

    it('is made from a CronJob by hand', async () => {
      await session.ok('create job by-hand --from=cronjob/bell', 'job.batch/by-hand created')
      await session.ok('wait job/by-hand --for=condition=complete --timeout=120s')
      await session.ok('get job by-hand -o yaml', /cronjob\.kubernetes\.io\/instantiate: manual/)
      await session.ok('get cronjob bell', /^bell +0 0 1 1 \* +<none> +False +0 +<none> /m)
      await session.ok('describe cronjob bell', /Schedule: +0 0 1 1 \*/, /Last Schedule Time: +<unset>/)
      await session.ok('describe job by-hand', /Controlled By: +CronJob\/bell/)
    })

    it('is suspended and let go', async () => {
      await session.until('get job held', /^held +Suspended +0\/1 /m)
      await session.ok('patch job held -p {"spec":{"suspend":false}}')
      await session.ok('wait job/held --for=condition=complete --timeout=120s')
    })
  })

  describe('what owns others', one, () => {
    const session = workIn('rollout-owners')

    it('goes after them, before them or without them', async () => {
      await session.ok('create deployment front --image=nginx --replicas=2')
      await session.ok('create deployment loose --image=nginx --replicas=2')
      await session.ok(
        'wait deploy --all --for=condition=Available --timeout=120s',
        /condition met\n.*condition met/,
      )
      await session.ok(
        'delete deploy front --cascade=foreground --timeout=120s',
        deleted('1.36', 'deployment.apps "front"'),
      )
      await session.ok('get rs,pods -l app=front -o name', '')
      await session.ok('delete deploy loose --cascade=orphan', deleted('1.36', 'deployment.apps "loose"'))
      const [rs = ''] = (await session.ok('get rs -l app=loose -o name')).trim().split('\n')
      await session.ok(`get ${rs} -o jsonpath={.metadata.ownerReferences}`, '')
      await session.ok('get pods -l app=loose', /( 1\/1 +Running .*\n.*){2}/)
      await session.ok('create deployment loose --image=nginx --replicas=2') // takes them in again
      await session.ok('rollout status deploy/loose --timeout=120s')
      await session.ok('get rs -l app=loose -o name', rs)
      await session.ok('delete deploy loose')
      await session.ok('wait --for=delete pods -l app=loose --timeout=120s')
    })

    it('is waited for: made, of a value, gone', async () => {
      const waiting = session.ok('wait --for=create pod/late --timeout=120s', 'pod/late condition met')
      await session.ok('run late --image=busybox')
      await waiting
      await session.ok('wait --for=jsonpath={.status.phase}=Running pod/late --timeout=120s')
      await session.ok('wait --for=condition=Ready=true pod/late --timeout=120s')
      await session.fails('wait --for=condition=Ready=false pod/late --timeout=1s', /timed out waiting/)
      await session.ok('patch pod late -p {"metadata":{"finalizers":["example.com/anchor"]}}')
      await session.ok('delete pod late --now --wait=false')
      await session.fails('wait --for=delete pod/late --timeout=1s', /timed out waiting/)
      const going = session.ok('wait --for=delete pod/late --timeout=120s')
      await session.ok('patch pod late --type=merge -p {"metadata":{"finalizers":null}}')
      await going
      await session.fails('get pod late', /NotFound/)
    })
  })

  describe('an application of many documents', one, () => {
    const session = workIn('rollout-app')
    const get =
      'get deploy,sts,ds,job,cronjob,svc,ingress,netpol,pdb,hpa,cm,secret,pvc,sa,role,rolebinding,quota,limits -o name'

    it('is applied, gets ready, changes in one place and goes', async () => {
      const made = await session.ok(`apply -f ${manifests}/app.yaml`)
      assert.equal(made.match(/ created$/gm)?.length, 22)
      await session.ok(
        'wait deploy --all --for=condition=Available --timeout=120s',
        /api condition met/,
        /page condition met/,
      )
      await session.ok('rollout status sts/store --timeout=120s')
      await session.ok('rollout status ds/lookout --timeout=120s')
      await session.ok('wait job/migrate --for=condition=complete --timeout=120s')
      await session.ok(
        'get all',
        /pod\/api-/,
        /statefulset\.apps\/store +1\/1/,
        /job\.batch\/migrate +Complete/,
      )
      await session.until(
        'get endpointslices -l kubernetes.io/service-name=api',
        /^api-\w+ +IPv4 +8080 +\d+\./m,
      )
      await session.until('describe quota', /pods +[5-9] +20/)
      // kubectl sees a change where a list is one value, and its items got defaults, and where a field is never read back.
      const again = await session.ok(`apply -f ${manifests}/app.yaml`)
      assert.deepEqual(again.match(/^.*(?= configured$)/gm), [
        'secret/password',
        'poddisruptionbudget.policy/api',
        'networkpolicy.networking.k8s.io/page',
        'statefulset.apps/store',
      ])
      await session.ok(`diff -f ${manifests}/app.yaml`, '')
      await session.ok(`delete -f ${manifests}/app.yaml --timeout=120s`)
      const left = (await session.ok(get)).trim().split('\n')
      assert.deepEqual(
        left.filter(name => !/kube-root-ca|account\/default|pvc|persistentvolumeclaim/.test(name)),
        [],
      )
    })
  })
})
