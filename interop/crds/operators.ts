import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A well-known operator: where its Go module has its definitions and objects that use them. */
export interface OperatorModule {
  readonly name: string
  readonly module: string
  readonly version: string
  /** Globs below the module. */
  readonly definitions: readonly string[]
  readonly samples: readonly string[]
  /** How many there are at least: a module that moves its files must not make the test empty. */
  readonly atLeast: { readonly definitions: number; readonly samples: number }
  /** What the server says of samples that are wrong, some on purpose, and of parts of objects: each is said once at least. */
  readonly refused?: readonly RegExp[]
}

export const operators: readonly OperatorModule[] = [
  {
    name: 'cert-manager',
    module: 'github.com/cert-manager/cert-manager',
    version: 'v1.21.2',
    definitions: ['deploy/crds/*.yaml'],
    samples: [
      'test/fixtures/cert-manager-resources.yaml',
      'make/config/samplewebhook/chart/templates/*.yaml',
    ],
    atLeast: { definitions: 6, samples: 2 },
  },
  {
    name: 'Argo CD',
    module: 'github.com/argoproj/argo-cd/v3',
    version: 'v3.5.6',
    definitions: ['manifests/crds/*-crd.yaml'],
    samples: [
      'docs/operator-manual/{application,applicationset,project}.yaml',
      'applicationset/examples/**/*.yaml',
    ],
    atLeast: { definitions: 3, samples: 10 },
    refused: [
      /"cluster-addons" is invalid: .*spec\.generators\[0\]\.git\.revision: Required value/,
      /strict decoding error: unknown field "spec\.generators\[0\]\.matrix\.generators\[0\]\.union"/,
      /strict decoding error: unknown field "spec\.generators\[0\]\.list\.template\.spec\.source\.revision"/,
    ],
  },
  {
    name: 'Prometheus operator',
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    definitions: ['example/prometheus-operator-crd/*.yaml'],
    samples: ['example/{user-guides,storage,thanos,rbac,shards,additional-scrape-configs}/**/*.yaml'],
    atLeast: { definitions: 10, samples: 15 },
    refused: [/The ServiceMonitor "servicemonitor-example" is invalid: spec\.selector: Required value/],
  },
  {
    name: 'Crossplane',
    module: 'github.com/crossplane/crossplane/v2',
    version: 'v2.0.2',
    definitions: ['cluster/crds/*.yaml'],
    samples: ['test/e2e/manifests/**/*.yaml'],
    atLeast: { definitions: 20, samples: 60 },
    refused: [
      /"invalid-duplicate-pipeline-steps" is invalid: spec\.pipeline\[1\]: Duplicate value/,
      /"invalid-empty-pipeline" is invalid: .*should have at least 1 items/,
      /"invalid-missing-pipeline" is invalid: spec: Invalid value: an array of pipeline steps is required in Pipeline mode/,
      /"invalid-missing-secretref" is invalid: .*the Secret source requires a secretRef/,
      /strict decoding error: unknown field "spec\.environment", unknown field "spec\.resources"/,
      /"xnopresourcestwo\.nop\.example\.org" is invalid: spec\.claimNames: Invalid value: Plural name must be lowercase/,
      /"using-uses-used-across-namespaces-invalid" is invalid: .*cross-namespace "spec\.of" is not allowed/,
      /(?:Configuration|Provider)Revision.* is invalid: .*spec\.desiredState: Required value/,
      /(?:Configuration|Provider)\.pkg.* is invalid: \[spec\.package: Required value/,
    ],
  },
  {
    name: 'Gateway API',
    module: 'sigs.k8s.io/gateway-api',
    version: 'v1.6.3',
    definitions: ['config/crd/standard/gateway.networking.k8s.io_*.yaml'],
    samples: ['examples/standard/**/*.yaml'],
    atLeast: { definitions: 10, samples: 60 },
  },
]

/** Downloads a module through the module proxy, if it is not there yet, and says where it is. */
export async function downloadModule(module: string, version: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-crds-'))
  try {
    await writeFile(join(directory, 'go.mod'), 'module crds\n\ngo 1.24\n')
    const output = await run('go', ['mod', 'download', '-json', `${module}@${version}`], directory)
    const { Dir: found, Error: problem } = JSON.parse(output) as { Dir?: string; Error?: string }
    if (!found) throw new Error(`${module}@${version} could not be had: ${problem ?? output}`)
    return found
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', code => {
      // With -json the reason is on standard output.
      if (code === 0 || stdout !== '') resolve(stdout)
      else reject(new Error(`${command} ${args.join(' ')}: ${stderr}`))
    })
  })
}
