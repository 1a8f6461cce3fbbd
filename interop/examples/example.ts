import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import type { Expectations } from '../kubectl/session.ts'
import { root } from '../support/coxswain.ts'

/** An example that is deployed by its own manifests. */
export interface Example {
  readonly folder: string
  /** The result of its sample, wherever Pods run or not. */
  observe(kubectl: Expectations): Promise<unknown>
  /** What only its webhooks do: called after the sample was applied, where the API server reaches them. */
  observeWebhooks?(kubectl: Expectations): Promise<unknown>
}

export const examples: readonly Example[] = [
  {
    folder: '01-at',
    observe: ({ until }) => until('get at cnrex -o jsonpath={.status.phase}', /RUNNING|DONE/),
  },
  {
    folder: '02-network',
    observe: ({ until }) =>
      until(
        'get network example-network -o jsonpath={.status.conditions[?(@.type=="Ready")].status}',
        'True',
      ),
  },
  {
    folder: '03-app',
    observe: ({ until }) => until('get deployment/web service/web -o name', /deployment.*\n.*service/),
    observeWebhooks: async ({ until, fails }) => {
      // The defaulting webhook turns it around, and the other version is converted by a webhook.
      await until('get ingress web -o jsonpath={.spec.rules[0].host}', 'web.example.com')
      await until('get apps.v1.ingress.example.com web -o jsonpath={.spec.expose.ingress}', 'true')
      const patch = `{"spec":{"enable_service":false,"enable_ingress":false}}`
      await fails(
        `patch apps.v1beta1.ingress.example.com web --type merge -p '${patch}'`,
        /must be true when enable_ingress is/,
      )
    },
  },
  {
    folder: '04-sidecar',
    observe: ({ until }) => until('get namespace shop -o name', 'namespace/shop'),
    observeWebhooks: async ({ ok, until }) => {
      await until('apply -f examples/04-sidecar/pod.yaml', /pod\/web/)
      const names = await ok('-n shop get pod web -o jsonpath={.spec.containers[*].name}')
      if (!names.includes('envoy')) throw new Error(`the Pod has ${names}`)
      await ok('delete -f examples/04-sidecar/pod.yaml')
    },
  },
  {
    folder: '05-ingress-manager',
    observe: ({ until }) => until('get ingress web -o jsonpath={.spec.rules[0].host}', 'web.example.com'),
  },
  {
    folder: '06-pipeline',
    observe: async ({ until }) => {
      const labels = '-l pipeline=facedetection-pipeline,step=2'
      await until(
        `-n pipeline get deployments,services ${labels} -o name`,
        /deployment.apps\/facedetection-2\nservice\/facedetection-2/,
      )
      await until(
        'get pipeline facedetection-pipeline -o jsonpath={.status.detailPhase.stepsPhase[*].servicePhase}',
        'Available Available',
      )
    },
  },
  {
    folder: '07-podset',
    observe: async ({ until }) => {
      await until('get podset example-podset -o jsonpath={.status.replicas}', '3')
      await until('get crontab my-new-cron-object -o jsonpath={.status.replicas}', '3')
    },
  },
  {
    folder: '08-foo',
    observe: async ({ until }) => {
      await until('get deployment example-foo -o jsonpath={.spec.replicas}', '1')
      await until('get foo example-foo -o jsonpath={.status.availableReplicas}', '0')
    },
  },
  {
    folder: '10-cronjob',
    observe: async ({ until }) => {
      const cronJob = 'cronjobs.batch.tutorial.kubebuilder.io cronjob-sample'
      await until(`get ${cronJob} -o jsonpath={.status.lastScheduleTime}`, /:00Z/) // within a minute
      await until('get jobs -o name', /cronjob-sample-/)
    },
    observeWebhooks: async ({ ok, fails }) => {
      const cronJob = 'cronjobs.batch.tutorial.kubebuilder.io cronjob-sample'
      await ok(`get ${cronJob} -o jsonpath={.spec.successfulJobsHistoryLimit}`, '3')
      await fails(
        `patch ${cronJob} --type merge -p '{"spec":{"schedule":"never"}}'`,
        /spec.schedule: Invalid/,
      )
    },
  },
  {
    folder: '11-demo',
    observe: ({ until }) =>
      until('get demo crd-demo -o jsonpath={.metadata.finalizers}', '["example.com/finalizer"]'),
  },
]

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } } }
}

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export interface Container {
  readonly name: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
}

/** What the manifests of an example say. */
export interface Deployed {
  /** Options of kubectl: the definitions, if there are any, and the Deployment with all it needs. */
  readonly files: string
  readonly sample: string
  /** Of the Deployment, its image and its ServiceAccount. */
  readonly name: string
  readonly namespace: string
  readonly containers: readonly Container[]
  readonly metricsPort: number
  readonly roles: readonly Manifest[]
  readonly webhookConfigurations: readonly string[]
}

export function readDeployment({ folder }: Example): Deployed {
  const path = (name: string) => `examples/${folder}/${name}`
  const manifests = [...readYamlDocuments(readFileSync(join(root, path('deploy.yaml'))))].map(
    ({ value }) => value as Manifest,
  )
  const deployment = manifests.find(({ kind }) => kind === 'Deployment')
  const containers = deployment?.spec?.template?.spec?.containers ?? []
  const { name, namespace } = deployment?.metadata ?? {}
  if (!name || !namespace) throw new Error(`${folder} has no Deployment in a namespace`)
  const metrics = containers[0]?.args?.find(text => text.startsWith('--metrics-bind-address=:'))
  const files = ['crd.yaml', 'deploy.yaml'].map(path).filter(file => existsSync(join(root, file)))
  return {
    files: files.map(file => `-f ${file}`).join(' '),
    sample: `-f ${path('sample.yaml')}`,
    name,
    namespace,
    containers,
    metricsPort: Number(metrics?.split(':')[1]),
    roles: manifests.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole'),
    webhookConfigurations: manifests
      .filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`),
  }
}

/** Makes an account that may read metrics, and gives its token. */
export async function createScraper({ ok }: Expectations): Promise<string> {
  await ok('create serviceaccount scraper -n kube-system')
  await ok('create clusterrole scraper --verb=get --non-resource-url=/metrics')
  await ok('create clusterrolebinding scraper --clusterrole=scraper --serviceaccount=kube-system:scraper')
  return (await ok('create token scraper -n kube-system')).trim()
}

/** The status code of a request for the metrics of an operator on this machine. */
export function readMetrics(port: number, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers, rejectUnauthorized: false }
    request(options, answer => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}
