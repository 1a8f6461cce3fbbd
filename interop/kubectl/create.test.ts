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
describe('create', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`create with kubectl ${version}`, { concurrency: 1 }, () => {
      const suffix = version.replace('.', '-')
      let session: Session
      before(async () => {
        session = await createSession(target, version, `yard-${suffix}`)
      })
      after(() => session[Symbol.dispose]())

      it('makes config maps and secrets', async () => {
        await session.ok('create configmap settings --from-literal=color=blue', 'configmap/settings created')
        await session.ok('get cm settings -o jsonpath={.data.color}', 'blue')
        await session.ok('create configmap files --from-file=LICENSE', 'configmap/files created')
        await session.ok('get cm files -o jsonpath={.data.LICENSE}', /License/)
        await session.fails('create configmap settings', /configmaps "settings" already exists/)
        await session.ok('create secret generic pass --from-literal=word=secret', 'secret/pass created')
        await session.ok('get secret pass -o jsonpath={.type}={.data.word}', 'Opaque=c2VjcmV0')
        const { directory } = session
        await session.ok(
          `create secret tls cert --cert=${directory}/tls.crt --key=${directory}/tls.key`,
          'secret/cert created',
        )
        await session.ok('get secret cert -o jsonpath={.type}', 'kubernetes.io/tls')
        await session.ok(
          'create secret docker-registry images --docker-server=images.example --docker-username=u --docker-password=p',
          'secret/images created',
        )
        await session.ok('get secret images -o jsonpath={.type}', 'kubernetes.io/dockerconfigjson')
      })

      it('makes workloads', async () => {
        await session.ok(
          'create deployment web --image=nginx:1.25 --replicas=2',
          'deployment.apps/web created',
        )
        await session.ok(
          'get deploy web -o jsonpath={.spec.replicas},{.spec.strategy.type},{.metadata.generation}',
          '2,RollingUpdate,1',
        )
        await session.ok('create job once --image=busybox -- echo hi', 'job.batch/once created')
        await session.ok(
          'get job once -o jsonpath={.spec.backoffLimit}{.spec.template.spec.containers[0].command}',
          '6["echo","hi"]',
        )
      })

      it('makes services', async () => {
        await session.ok('create service clusterip inner --tcp=80:8080', 'service/inner created')
        await session.ok('get svc inner -o jsonpath={.spec.clusterIP}', /^10\.\d+\.\d+\.\d+$/)
        await session.ok('create service clusterip headless --clusterip=None', 'service/headless created')
        await session.ok('get svc headless -o jsonpath={.spec.clusterIP}', 'None')
        const port = version === '1.20' ? 30120 : 30136
        await session.ok(
          `create service nodeport outer --tcp=80 --node-port=${port}`,
          'service/outer created',
        )
        await session.fails(
          `create service nodeport again --tcp=80 --node-port=${port}`,
          /provided port is already allocated/,
        )
        await session.ok('create service loadbalancer lb --tcp=443:8443', 'service/lb created')
        await session.ok('get svc lb', /LoadBalancer +10\..* <pending> +443:3\d+\/TCP/)
        await session.ok('create service externalname ext --external-name=example.com', 'service/ext created')
        await session.ok('get svc ext', /ExternalName +<none> +example\.com/)
        await session.ok(
          'create ingress site --rule=example.com/path*=inner:80,tls=cert',
          /networking\.k8s\.io\/site created/,
        )
        await session.ok('get ingress site', /example\.com .*80, 443/)
        await session.ok(
          'expose deployment web --port=80 --target-port=8080 --name=front',
          'service/front exposed',
        )
        await session.ok(
          'get svc front -o jsonpath={.spec.selector.app}:{.spec.ports[0].targetPort}',
          'web:8080',
        )
      })

      it('makes roles and their bindings', async () => {
        const group = 'rbac.authorization.k8s.io'
        await session.ok('create role reader --verb=get,list --resource=pods', `role.${group}/reader created`)
        await session.ok(
          'create role scaler --verb=update --resource=deployments.apps/scale',
          `role.${group}/scaler created`,
        )
        await session.ok('get role scaler -o jsonpath={.rules[0].resources}', '["deployments/scale"]')
        await session.ok(
          'create rolebinding readers --role=reader --user=jane',
          `rolebinding.${group}/readers created`,
        )
        await session.ok(
          `create clusterrole nodes-${suffix} --verb=get --resource=nodes`,
          /clusterrole.* created/,
        )
        await session.ok(
          `create clusterrole health-${suffix} --verb=get --non-resource-url=/healthz`,
          /clusterrole.* created/,
        )
        await session.ok(
          `create clusterrole sum-${suffix} --aggregation-rule=sea.example.com/sum=true`,
          /clusterrole.* created/,
        )
        await session.ok(
          `create clusterrolebinding crew-${suffix} --clusterrole=nodes-${suffix} --group=crew`,
          /clusterrolebinding.* created/,
        )
        await session.ok(`get clusterrolebinding crew-${suffix} -o wide`, /ClusterRole\/nodes-.* crew/)
      })

      it('makes what governs pods', async () => {
        await session.ok('create serviceaccount default', 'serviceaccount/default created')
        await session.ok('create serviceaccount sailor', 'serviceaccount/sailor created')
        await session.ok('create quota limits --hard=pods=5,secrets=20', 'resourcequota/limits created')
        await session.ok('get quota limits -o jsonpath={.spec.hard.pods}', '5')
        await session.ok(`create priorityclass high-${suffix} --value=1000`, /priorityclass.* created/)
        await session.ok(`get priorityclass high-${suffix}`, /1000 +false/)
      })

      it('makes nothing in a dry run', async () => {
        await session.ok('create configmap dry --dry-run=server -o name', 'configmap/dry')
        await session.ok('create configmap dry --dry-run=client -o yaml', /kind: ConfigMap/)
        await session.fails('get cm dry', 'Error from server (NotFound): configmaps "dry" not found')
      })

      it('lets the server choose a name', async () => {
        await session.ok(
          `create -f ${manifests}/generated-name.yaml`,
          /^configmap\/buoy-[a-z0-9]{5} created$/m,
        )
      })

      it('runs pods', async () => {
        await session.kubectl('create', 'serviceaccount', 'default')
        await session.ok(
          'run shell --image=busybox --restart=Never --labels=app=shell --env=A=b -- sleep 1000',
          'pod/shell created',
        )
        await session.ok(
          'get pod shell -o jsonpath={.status.phase}/{.status.qosClass}/{.spec.serviceAccountName}',
          'Pending/BestEffort/default',
        )
        await session.ok('run trial --image=busybox --dry-run=server -o name', 'pod/trial')
        await session.ok('run sketch --image=busybox --dry-run=client -o yaml', /image: busybox/)
        await session.fails('run Bad_Name --image=busybox', /RFC 1123/)
        await session.ok('expose pod shell --port=81', 'service/shell exposed')
      })
    })
  }
})

describe('create as only newer versions of kubectl do', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer-yard')
  })
  after(() => session[Symbol.dispose]())

  it('makes cron jobs and jobs from them', async () => {
    await session.ok(
      `create cronjob tick --image=busybox --schedule='*/5 * * * *' -- date`,
      'cronjob.batch/tick created',
    )
    await session.ok('get cronjob tick', /\*\/5 \* \* \* \* +<none> +False +0/)
    await session.ok('create job now --from=cronjob/tick', 'job.batch/now created')
    await session.ok('get job now -o jsonpath={.metadata.ownerReferences[0].name}', 'tick')
    await session.fails(
      `create cronjob bad --image=busybox --schedule='61 * * * *'`,
      /spec\.schedule: Invalid value/,
    )
  })

  it('makes disruption budgets', async () => {
    await session.ok(
      'create pdb guard --selector=app=web --min-available=1',
      'poddisruptionbudget.policy/guard created',
    )
    await session.ok('get pdb guard', /guard +1 +N\/A +0/)
  })

  it('refuses unknown fields', async () => {
    await session.fails(
      `create -f ${manifests}/unknown-field.yaml`,
      /strict decoding error: unknown field "dtaa"/,
    )
    const { stderr } = await session.kubectl(
      'create',
      '-f',
      `${manifests}/unknown-field.yaml`,
      '--validate=warn',
    )
    assert.match(stderr, /Warning: unknown field "dtaa"/)
  })
})
