/** `npm start`: a control plane with several of the examples, and what to try with them. Options are those of `coxswain up`. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childVariable } from '../packages/cli/src/parent.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const examples = ['01-at', '05-ingress-manager', '07-podset', '08-foo', '10-cronjob', '11-demo']

const hints = `
It runs ${examples.map(name => `examples/${name}`).join(', ')}. In another terminal, with that KUBECONFIG:

  kubectl apply -f examples/01-at/sample.yaml && kubectl get ats,pods     # a Pod, once, at a given time
  kubectl apply -f examples/05-ingress-manager/sample.yaml && kubectl get services,ingresses
  kubectl apply -f examples/07-podset/sample.yaml && kubectl scale podset example-podset --replicas 5
  kubectl apply -f examples/08-foo/sample.yaml && kubectl get foos,deployments
  kubectl apply -f examples/10-cronjob/sample.yaml && kubectl get jobs -w   # one each minute
  kubectl apply -f examples/11-demo/sample.yaml && kubectl delete demo crd-demo && kubectl get events

Ctrl-C stops everything. The README of each example says what it does.
`

const command = ['packages/coxswain/bin/coxswain.js', 'up', ...process.argv.slice(2), '--operator']
const operators = examples.map(name => `examples/${name}/operator.ts`)
// The server stops when this process ends, however it ends.
const child = spawn(process.execPath, [...command, ...operators], {
  cwd: root,
  env: { ...process.env, [childVariable]: '1' },
  stdio: ['inherit', 'pipe', 'inherit', 'ipc'],
})
process.stdout.on('error', () => child.kill('SIGTERM')) // a closed pipe, as with `| head`
let output = ''
child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
  process.stdout.write(chunk)
  const wasReady = output.includes('coxswain is ready')
  output = (output + chunk).slice(-1_000)
  if (!wasReady && output.includes('coxswain is ready')) process.stdout.write(hints)
})
// In a terminal Ctrl-C reaches both; a signal to this process alone is passed on.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', code => {
  process.exitCode = code ?? 1
})
