import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, runOrFail } from '../components/process.ts'

/** The test runners that authors use besides `node:test`. */
export interface TestRunner {
  readonly name: string
  /** What npm installs. */
  readonly package: string
  /** The first lines of a test file. */
  readonly head: string
  /** Of node, in the folder with `node_modules`; the tests are in the folder of the runner's name. */
  readonly args: readonly string[]
}

export const testRunners: readonly TestRunner[] = [
  {
    name: 'vitest',
    package: 'vitest@5.1.0',
    head: "import { expect, test } from 'vitest'\n",
    args: ['node_modules/vitest/vitest.mjs', 'run', '--root', 'vitest'],
  },
  {
    name: 'jest',
    package: 'jest@30.5.2',
    head: '',
    args: [
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      ...['--rootDir', 'jest', '--testEnvironment', 'node', '--transform', '{}'],
    ],
  },
]

/** How long a run of three small tests may take on a busy machine. */
const limit = 120_000

/** A small project with an operator and its tests, as an author would write them. */
const testFile = `import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Pod } from '@coxswain/api/core/v1'
import { defineOperator } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }

/** Makes a Deployment of every ConfigMap that has a replica count. */
const operator = defineOperator('scaler', builder => {
  builder
    .controller('scale')
    .for(ConfigMap)
    .reconcile(async ({ key, client }) => {
      const map = await client.get(ConfigMap, key)
      if (!map?.data?.replicas || (await client.get(Deployment, key))) return
      await client.create(Deployment, {
        metadata: { namespace: key.namespace, name: key.name },
        spec: {
          replicas: Number(map.data.replicas),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'greeter' }] } },
        },
      })
    })
})

const images = {
  greeter: async ({ print, signal }) => {
    print('hello')
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
}
const manifest = 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: web }\\ndata: { replicas: "2" }\\n'

test('an operator in the whole control plane, on a virtual clock', async () => {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 7 }), nodes: 1, images })
  cluster.start(operator)
  await cluster.apply(manifest)
  await cluster.expect(Deployment, key).eventually().toHave({ status: { readyReplicas: 2 } })
  const { items } = await cluster.run(cluster.client.list(Pod, { namespace }))
  expect(items.length).toBe(2)
})

test('on the real clock, with a port', async () => {
  await using cluster = await startCluster()
  cluster.start(operator)
  expect(await cluster.kubeconfig()).toMatch(/kubeconfig$/)
  await cluster.apply(manifest)
  await cluster.expect(Deployment, key).eventually().toHave({ spec: { replicas: 2 } })
})

test('an expectation that fails', async () => {
  await using cluster = await startCluster({ env: new VirtualWorld() })
  await cluster.apply(manifest)
  const failing = cluster.expect(ConfigMap, key).eventually().toHave({ data: { replicas: '3' } })
  if (process.env.PLANT_FAILURE) await failing
  await expect(failing).rejects.toThrow(/data\\.replicas: expected "3", got "2"/)
})
`

/**
 * Runs the project with a test runner in `folder`, where our packages are installed: it has to pass and end by itself, and a planted
 * failure has to fail with what differs and the object.
 */
export async function runProject(runner: TestRunner, folder: string, node: string): Promise<void> {
  const env = { ...process.env, CI: 'true', NO_COLOR: '1' }
  await mkdir(join(folder, runner.name), { recursive: true })
  await writeFile(join(folder, runner.name, 'operator.test.js'), `${runner.head}${testFile}`)
  const options = { cwd: folder, timeout: limit }
  const passed = await run(node, runner.args, { ...options, env })
  const output = passed.stdout + passed.stderr
  if (passed.code !== 0) throw new Error(`${runner.name} failed\n${output}`)
  if (/did not exit|open handle|close timed out/i.test(output))
    throw new Error(`${runner.name} says that something is left open\n${output}`)
  const planted = await run(node, runner.args, { ...options, env: { ...env, PLANT_FAILURE: 'true' } })
  const report = planted.stdout + planted.stderr
  for (const part of ['data.replicas: expected "3", got "2"', 'kind: ConfigMap', 'Last reconciles: none'])
    if (planted.code === 0 || !report.includes(part))
      throw new Error(`${runner.name} does not show ${JSON.stringify(part)} of a failure\n${report}`)
}

/** Adds the runners to the project in `folder`. */
export async function installRunners(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const packages = testRunners.map(runner => runner.package)
  await runOrFail('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], {
    cwd: folder,
    env,
  })
}
