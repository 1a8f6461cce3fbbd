import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { createKubectl, type Kubectl, succeeds } from '../../support/kubectl.ts'
import { expecting, namespaceIsReady } from '../session.ts'

/** Processes whose environment has this variable. */
function processesWith(variable: string): string[] {
  return readdirSync('/proc').filter(name => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes(variable)
    } catch {
      return false
    }
  })
}

const directory = mkdtempSync(join(tmpdir(), 'process-runtime-'))
/** A Pod whose processes are looked for on the whole machine, where others may run the same tests. */
const own = (name: string): string => `${name}-${process.pid}`
after(() => rmSync(directory, { recursive: true, force: true }))

function manifest(name: string, spec: object, kind = 'Pod'): string {
  const file = join(directory, `${name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind, metadata: { name }, ...spec }))
  return file
}

function pod(name: string, container: object, spec: object = {}): string {
  const containers = [{ name: 'main', image: 'busybox', ...container }]
  return manifest(name, { spec: { terminationGracePeriodSeconds: 2, ...spec, containers } })
}

const sh = (script: string): object => ({ command: ['sh', '-c', script] })

describe('pods that are processes', () => {
  let server: RunningServer
  let kubectl: Kubectl
  let until: ReturnType<typeof expecting>['until']
  const reaches = (phase: string, name: string) => until(`get pod ${name} -o jsonpath={.status.phase}`, phase)
  const apply = (file: string) => succeeds(kubectl('apply', '-f', file))
  before(async () => {
    server = await startServer('--runtime', 'process', '--operator', 'examples/01-at/operator.ts')
    kubectl = createKubectl('1.36', server.kubeconfig)
    until = expecting('kubectl', kubectl).until
    await until(namespaceIsReady)
  })
  after(async () => await server[Symbol.asyncDispose]())

  it('prints what the first example says', async () => {
    await succeeds(kubectl('apply', '-f', 'examples/01-at/sample.yaml'))
    await reaches('Succeeded', 'cnrex-pod')
    assert.equal(await succeeds(kubectl('logs', 'cnrex-pod')), 'Kubernetes native rocks!\n')
  })

  it('gives containers their variables, volumes and token', async () => {
    await apply(manifest('cfg', { data: { greeting: 'hello', 'app.conf': 'x=1\n' } }, 'ConfigMap'))
    const mounts = [
      { name: 'shared', mountPath: '/shared' },
      { name: 'conf', mountPath: '/etc/app' },
      { name: 'info', mountPath: '/etc/podinfo' },
    ]
    const script = [
      'echo $GREETING $NODE $LIMIT $ALL $(NAME)',
      'cat /shared/x /etc/app/app.conf /etc/podinfo/name',
      'ls /var/run/secrets/kubernetes.io/serviceaccount',
      'cat /var/run/secrets/kubernetes.io/serviceaccount/namespace',
    ].join('; ')
    const file = pod(
      'volumes',
      {
        ...sh(script),
        env: [
          { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'GREETING', valueFrom: { configMapKeyRef: { name: 'cfg', key: 'greeting' } } },
          { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          { name: 'ALL', value: '$(GREETING)-$(NAME)-$(UNSET)-$$(NAME)' },
        ],
        resources: { limits: { memory: '64Mi', cpu: '1' } },
        volumeMounts: mounts,
      },
      {
        restartPolicy: 'Never',
        initContainers: [
          {
            name: 'init',
            image: 'busybox',
            ...sh('echo made > /shared/x'),
            volumeMounts: mounts.slice(0, 1),
          },
        ],
        volumes: [
          { name: 'shared', emptyDir: {} },
          { name: 'conf', configMap: { name: 'cfg' } },
          {
            name: 'info',
            downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] },
          },
        ],
      },
    )
    await apply(file)
    await reaches('Succeeded', 'volumes')
    assert.equal(
      await succeeds(kubectl('logs', 'volumes', '-c', 'main')),
      'hello node-1 64 hello-volumes-$(UNSET)-$(NAME) volumes\nmade\nx=1\nvolumesca.crt\nnamespace\ntoken\ndefault',
    )
  })

  it('follows, cuts and dates logs, and keeps those of the last life', async () => {
    await apply(pod('talker', sh('for i in 1 2 3; do echo line $i; done; sleep 1; echo line 4; sleep 600')))

    await reaches('Running', 'talker')
    await using again = kubectl.follow('logs', '-f', '--tail=1', 'talker')
    await again.until(/line 4/)
    assert.equal(await succeeds(kubectl('logs', 'talker', '--tail=2')), 'line 3\nline 4\n')
    assert.match(
      await succeeds(kubectl('logs', 'talker', '--timestamps', '--tail=1')),
      /^\d{4}-\d\d-\d\dT\S+Z line 4\n$/,
    )
    assert.equal(await succeeds(kubectl('logs', 'talker', '--limit-bytes=6')), 'line 1')
    assert.equal(await succeeds(kubectl('logs', 'talker', '--since-time=2099-01-01T00:00:00Z')), '')
    const { stderr } = await kubectl('logs', 'talker', '--previous')
    assert.match(stderr, /previous terminated container "main" in pod "talker" not found/)
    await apply(pod('crasher', sh('echo life; exit 7')))
    await until('get pod crasher', /CrashLoopBackOff/)
    assert.equal(await succeeds(kubectl('logs', 'crasher', '--previous')), 'life\n')
    await until('get events', /BackOff .*Back-off restarting failed container main/)
    const code = 'jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}'
    assert.equal(await succeeds(kubectl('get', 'pod', 'crasher', '-o', code)), '7')
  })

  it('says so when there is no such image', async () => {
    await apply(pod('imageless', { image: 'registry.example.com/no/such:1' }))
    await until('get pod imageless', /ImagePullBackOff/)
    await until('get events', /Failed to pull image "registry.example.com\/no\/such:1"/)
    const { stderr } = await kubectl('logs', 'imageless')
    assert.match(stderr, /container "main" in pod "imageless" is waiting to start|failing to pull image/)
  })

  it('probes, and restarts what does not live', async () => {
    const probe = { periodSeconds: 1, failureThreshold: 1 }
    await apply(
      pod('probed', {
        ...sh('sleep 600'),
        readinessProbe: { ...probe, exec: { command: ['sh', '-c', 'test -e $HOME/ready'] } },
      }),
    )
    await apply(pod('dying', { ...sh('sleep 600'), livenessProbe: { ...probe, tcpSocket: { port: 1 } } }))
    await until('get events', /Readiness probe failed/)
    await until('get pod probed', /0\/1 +Running/)
    await succeeds(kubectl('exec', 'probed', '--', 'sh', '-c', 'touch $HOME/ready'))
    await until('get pod probed', /1\/1 +Running/)
    await until('get events', /Container main failed liveness probe, will be restarted/)
    const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}'
    await until(`get pod dying -o ${restarts}`, /[1-9]/)
  })

  it('runs sidecars beside, and ends them after, the others', async () => {
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
    const sidecar = {
      name: 'side',
      image: 'busybox',
      restartPolicy: 'Always',
      volumeMounts,
      ...sh('echo side; touch /shared/spoken; sleep 600'),
    }
    const volumes = [{ name: 'shared', emptyDir: {} }]
    const spec = { restartPolicy: 'Never', initContainers: [sidecar], volumes }
    const script = 'until test -e /shared/spoken; do sleep 0.1; done; echo main'
    const name = own('sidecar')
    await apply(pod(name, { volumeMounts, ...sh(script) }, spec))
    await reaches('Succeeded', name)
    assert.equal(await succeeds(kubectl('logs', name, '-c', 'side')), 'side\n')
    await eventually('all is over', async () => processesWith(`HOSTNAME=${name}`).length === 0)
  })

  it('calls hooks, and kills what does not end in its grace period', async () => {
    const stopped = join(directory, 'stopped')
    const name = own('stubborn')
    await apply(
      pod(name, {
        ...sh(`trap '' TERM; touch $HOME/x; sleep 600 & while :; do wait; sleep 1; done`),
        lifecycle: { preStop: { exec: { command: ['sh', '-c', `echo stopping > ${stopped}`] } } },
      }),
    )
    await succeeds(kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s'))
    await succeeds(kubectl('delete', 'pod', name))
    assert.equal(readFileSync(stopped, 'utf8'), 'stopping\n')
    assert.deepEqual(processesWith(`HOSTNAME=${name}`), [])
    await until('get events', /Killing .*Stopping container main/)
  })
})

describe('processes of pods', () => {
  it('are ended when a killed server has restarted, and when it has stopped', async () => {
    let kubeconfig = ''
    const name = own('orphan-test')
    const marker = `HOSTNAME=${name}`
    {
      await using server = await startServer('--runtime', 'process')
      kubeconfig = server.kubeconfig
      const kubectl = createKubectl('1.36', kubeconfig)
      const { until } = expecting('kubectl', kubectl)
      await until(namespaceIsReady)
      // One in the group, and one that has left it.
      await succeeds(kubectl('apply', '-f', pod(name, sh('sleep 601 & setsid sleep 602 & sleep 603'))))
      await succeeds(kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s'))
      await succeeds(kubectl('apply', '-f', pod('over', sh('echo last words'), { restartPolicy: 'Never' })))
      await until('get pod over', /Completed/)
      await eventually('all of them run', async () => processesWith(marker).length >= 4)
      const before = processesWith(marker)
      await server.kill()
      assert.deepEqual(processesWith(marker), before)
      await server.restart()
      const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}'
      await until(`get pod ${name} -o ${restarts}`, '1')
      assert.equal(await succeeds(kubectl('logs', 'over')), 'last words\n')
      assert.deepEqual(
        processesWith(marker).filter(pid => before.includes(pid)),
        [],
      )
    }
    assert.deepEqual(processesWith(marker), [])
  })
})
