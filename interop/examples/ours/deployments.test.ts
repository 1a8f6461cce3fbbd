/** Every example as its own Deployment, by its own manifests; ours, because Pods need nodes. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { expecting } from '../../kubectl/session.ts'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { createKubectl } from '../../support/kubectl.ts'
import { createScraper, examples, readDeployment, readMetrics } from '../example.ts'

describe('examples as Deployments of their own, with least rights', { concurrency: 1 }, () => {
  let server: RunningServer
  let kubectl: ReturnType<typeof expecting>
  let token: string
  before(async () => {
    const images = examples.flatMap(example => [
      '--image',
      `${readDeployment(example).name}=examples/${example.folder}`,
    ])
    // Others may run the same on this machine.
    const range = `10.${64 + (process.pid % 128)}.0.0/16`
    const options = ['--authorization-mode', 'RBAC', '--service-cluster-ip-range', range]
    server = await startServer('--runtime', 'process', ...options, ...images)
    kubectl = expecting('kubectl', createKubectl('1.36', server.kubeconfig))
    token = await createScraper(kubectl)
  })
  after(async () => await server[Symbol.asyncDispose]())

  for (const example of examples)
    it(`examples/${example.folder} is applied, does its work and is deleted`, async () => {
      const { ok, until, fails } = kubectl
      const { name, namespace, files, sample, metricsPort } = readDeployment(example)
      await ok(`apply ${files}`)
      await ok(`-n ${namespace} wait --for=condition=Available deployment/${name} --timeout=120s`)
      await until(`apply ${sample}`) // until the webhooks answer, where it has some
      await example.observe(kubectl)
      await example.observeWebhooks?.(kubectl)
      await until(`-n ${namespace} get leases -o jsonpath={.items[*].spec.holderIdentity}`, /./)
      assert.equal(await readMetrics(metricsPort, token), 200)
      assert.equal(await readMetrics(metricsPort), 401)

      const isItsOwn = example.folder === '04-sidecar' // the sample has the namespace of the operator
      if (!isItsOwn) await ok(`delete ${sample} --timeout=120s`)
      const log = await ok(`-n ${namespace} logs deployment/${name} -c operator`)
      assert.doesNotMatch(log, /forbidden/)
      await ok(`delete ${files} --timeout=120s`)
      if (isItsOwn) await ok(`delete ${sample} --ignore-not-found --timeout=120s`)
      await fails(`get namespace ${namespace}`, /not found/)
      await until('get deployments,replicasets,ingresses,persistentvolumes -o name', '')
      await until('get pods -o name', '')
      await eventually('its port is free', () =>
        readMetrics(metricsPort).then(
          () => false,
          () => true,
        ),
      )
    })
})
