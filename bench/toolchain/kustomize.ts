/** `coxswain kustomize build` beside the real kustomize 5.8, on a project with many objects and patches. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { buildKustomization } from '@coxswain/kustomize'
import { diskFiles } from '@coxswain/kustomize/node'
import { ensureComponent } from '../../tools/components/index.ts'
import type { BenchCase } from '../harness.ts'
import { builtCommand } from './built.ts'

const objects = 50

export async function kustomizeCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const command = await builtCommand()
  const program = await ensureComponent('kustomize-5.8', line => console.error(line))
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  writeProject(folder)
  const overlay = join(folder, 'overlay')
  const real = { name: 'kustomize 5.8', measure: () => timeProcess(program, ['build', overlay]) }
  return [
    {
      name: `kustomize build of ${2 * objects} objects, a process`,
      unit: 'ms',
      measure: () => timeProcess(process.execPath, [command, 'kustomize', 'build', overlay]),
      reference: real,
      goal: { of: 'ratio', atMost: 1 / 3 },
    },
    {
      name: `kustomize build of ${2 * objects} objects, in process`,
      unit: 'ms',
      measure: () => {
        const start = performance.now()
        for (let run = 0; run < 5; run++) buildKustomization(overlay, diskFiles())
        return Promise.resolve((performance.now() - start) / 5)
      },
      reference: real,
      goal: { of: 'ratio', atMost: 1 / 10 },
    },
  ]
}

function timeProcess(program: string, args: readonly string[]): Promise<number> {
  const start = performance.now()
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
  return Promise.resolve(performance.now() - start)
}

function writeProject(folder: string): void {
  mkdirSync(join(folder, 'base'))
  mkdirSync(join(folder, 'overlay'))
  const documents = Array.from({ length: objects }, (_, i) => deployment(i))
  writeFileSync(join(folder, 'base/all.yaml'), documents.join('---\n'))
  writeFileSync(
    join(folder, 'base/kustomization.yaml'),
    'resources: [all.yaml]\nlabels: [{pairs: {part: base}, includeSelectors: true}]\n',
  )
  writeFileSync(
    join(folder, 'overlay/kustomization.yaml'),
    `resources: [../base]
namePrefix: prod-
namespace: prod
commonAnnotations: {team: red}
images: [{name: nginx, newTag: "1.27"}]
configMapGenerator: [{name: settings, literals: [a=b]}]
patches:
- target: {kind: Deployment}
  patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any}
    spec: {template: {spec: {containers: [{name: main, env: [{name: EXTRA, value: "1"}]}]}}}
`,
  )
}

const deployment = (i: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web-${i}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web-${i}}}
  template:
    metadata: {labels: {app: web-${i}}}
    spec:
      containers:
      - name: main
        image: nginx:1.25
        envFrom: [{configMapRef: {name: settings}}]
        ports: [{containerPort: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: web-${i}}
spec:
  selector: {app: web-${i}}
  ports: [{port: 80}]
`
