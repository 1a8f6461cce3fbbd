/**
 * The rights of every example, on our server and on a real one: what its Deployment runs is run here, as its ServiceAccount with a
 * token. Neither server has nodes, nor a way to webhooks in Pods.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeProtectionController,
} from '@coxswain/controllers'
import { expecting } from '../kubectl/session.ts'
import { type Session, startSession } from '../real/session.ts'
import { root } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'
import { createKubectl } from '../support/kubectl.ts'
import { createScraper, type Deployed, examples, type Rule, readDeployment, readMetrics } from './example.ts'

const command = join(root, 'packages/coxswain/bin/coxswain.js')

describe('examples with the rights of their manifests', { concurrency: 1 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'examples-'))
  let session: Session
  let kubectl: ReturnType<typeof expecting>
  let scraper: string
  before(async () => {
    session = await startSession('examples')
    session.start(createPersistentVolumeClaimProtectionController()) // claims and volumes are deleted only with these
    session.start(createPersistentVolumeProtectionController())
    kubectl = expecting('kubectl', createKubectl('1.36', session.kubeconfig))
    scraper = await createScraper(kubectl)
  })
  after(async () => {
    await kubectl.ok('delete clusterrole/scraper clusterrolebinding/scraper')
    await kubectl.ok('delete serviceaccount scraper -n kube-system')
    await session[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  /** A kubeconfig with the token of a ServiceAccount, in its namespace. */
  async function kubeconfigOf({ name, namespace }: Deployed): Promise<string> {
    const file = join(directory, `${name}.kubeconfig`)
    const { ok } = expecting('kubectl', createKubectl('1.36', file))
    writeFileSync(file, readFileSync(session.kubeconfig))
    const token = (await kubectl.ok(`-n ${namespace} create token ${name}`)).trim()
    await ok(`config set-credentials ${name} --token=${token}`)
    await ok(`config set-context --current --user=${name} --namespace=${namespace}`)
    return file
  }

  /** Runs the containers of the Deployment; `log` is what the operator has printed. */
  function start({ folder }: { readonly folder: string }, deployed: Deployed, kubeconfig: string) {
    let log = ''
    const children = deployed.containers.map((container): ChildProcess => {
      const [program = process.execPath, ...args] = [
        ...(container.command ?? [process.execPath, command]),
        ...(container.args ?? []),
      ]
      const variables = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]))
      const env = { ...process.env, ...variables, KUBECONFIG: kubeconfig, COXSWAIN_LOG_LEVEL: 'debug' }
      const child = spawn(program, args, { cwd: join(root, 'examples', folder), env })
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', chunk => {
          log += chunk
        })
      return child
    })
    return {
      get log() {
        return log
      },
      async [Symbol.asyncDispose]() {
        for (const child of children) {
          if (child.exitCode !== null || child.signalCode !== null) continue
          const ended = new Promise(resolve => child.once('exit', resolve))
          child.kill('SIGTERM')
          await ended
        }
      },
    }
  }

  /** Applies the manifests; what an API server would have to reach in a Pod is removed once the operator has written it. */
  async function deploy(deployed: Deployed, then: () => Promise<void>): Promise<void> {
    await kubectl.ok(`apply ${deployed.files}`)
    try {
      await then()
    } finally {
      await kubectl.ok(`delete ${deployed.sample} --ignore-not-found --wait=false`)
      await kubectl.ok(`delete ${deployed.files} --ignore-not-found --timeout=120s`)
    }
  }

  for (const example of examples)
    it(`examples/${example.folder} works`, async () => {
      const deployed = readDeployment(example)
      await deploy(deployed, async () => {
        await using operator = start(example, deployed, await kubeconfigOf(deployed))
        await kubectl.until(
          `-n ${deployed.namespace} get leases -o jsonpath={.items[*].spec.holderIdentity}`,
          /./,
        )
        for (const configuration of deployed.webhookConfigurations) {
          await kubectl.until(
            `get ${configuration} -o jsonpath={.webhooks[0].clientConfig.caBundle}`,
            /^[\w+/=]+$/,
          )
          await kubectl.ok(`delete ${configuration}`)
        }
        await kubectl.ok(`apply ${deployed.sample}`)
        await example.observe(kubectl)
        await eventually(
          'metrics are served',
          async () => (await readMetrics(deployed.metricsPort, scraper)) === 200,
        )
        await kubectl.ok(`delete ${deployed.sample} --timeout=120s`)
        assert.doesNotMatch(operator.log, /forbidden/)
      })
    })

  for (const folder of ['05-ingress-manager', '08-foo'])
    describe(`examples/${folder} does not work without`, { concurrency: 1 }, () => {
      const example = examples.find(each => each.folder === folder)!
      const deployed = readDeployment(example)
      for (const role of deployed.roles)
        for (const [index, rule] of (role.rules ?? []).entries())
          it(`${rule.verbs.join(', ')} of ${rule.resources.join(', ')}`, async () => {
            await deploy(deployed, async () => {
              const { kind, metadata } = role
              const where = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`
              const patch = JSON.stringify([{ op: 'remove', path: `/rules/${index}` }])
              await kubectl.ok(`patch ${kind} ${metadata.name}${where} --type json -p '${patch}'`)
              await using operator = start(example, deployed, await kubeconfigOf(deployed))
              await kubectl.ok(`apply ${deployed.sample}`)
              await eventually(`it is forbidden to ${describeRule(rule)}`, async () => {
                // Only a request for metrics makes it ask who may read them.
                await readMetrics(deployed.metricsPort, scraper).catch(() => {})
                return deniedBy(rule).test(operator.log)
              })
            })
          })
    })
})

const describeRule = ({ verbs, resources }: Rule) => `${verbs.join('/')} ${resources.join('/')}`

/** How an API server says that one of the requests of a rule is not allowed. */
const deniedBy = ({ verbs, resources }: Rule) =>
  new RegExp(`cannot (${verbs.join('|')}) resource \\\\*"(${resources.join('|')})\\\\*"`)
