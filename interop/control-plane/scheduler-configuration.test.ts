import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { readSchedulerConfiguration } from '@coxswain/scheduler'
import { head, rejections } from '../../packages/scheduler/src/configuration/test-support/rejections.ts'
import { ensureComponent } from '../../tools/components/index.ts'

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
`

/** What a kube-scheduler logs until it gives up, or until `isEnough` of it is there. */
function listen(program: string, file: string, isEnough: (log: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['--config', file, '--secure-port', '0', '-v=2'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    child.stderr.on('data', chunk => {
      log += chunk
      if (isEnough(log)) child.kill()
    })
    const timer = setTimeout(() => child.kill(), 10_000)
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve(log)
    })
  })
}

/** The last words of one that does not like its configuration. */
async function refuse(program: string, file: string): Promise<string> {
  const log = await listen(program, file, () => false)
  const [, quoted] = /"command failed" err=(".*")\n/.exec(log) ?? []
  return quoted === undefined ? log : (JSON.parse(quoted) as string)
}

type Expanded = Readonly<Record<string, { readonly Enabled: readonly { readonly Name: string }[] | null }>>

/** Which plug-ins of its only profile are asked where. */
async function expand(program: string, file: string): Promise<Expanded> {
  const line = /starts to work with those plugins" Plugins=(\{.*\})\n/
  const [, text = '{}'] = line.exec(await listen(program, file, log => line.test(log))) ?? []
  return JSON.parse(text) as Expanded
}

const accepted = [
  '',
  'profiles: [{plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 5}]}, filter: {enabled: [{name: NodePorts}], disabled: [{name: NodeName}]}}}]',
  'profiles: [{plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 7}], disabled: [{name: TaintToleration}]}, preFilter: {enabled: [{name: VolumeZone}]}}}]',
  'profiles: [{plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: DefaultBinder}, {name: PrioritySort}, {name: NodeAffinity}, {name: NodeName}]}}}]',
]

/** A file with each configuration, one after the other. */
async function withFiles(
  texts: readonly string[],
  body: (program: string, file: string, text: string) => Promise<void>,
): Promise<void> {
  const program = await ensureComponent('kube-scheduler-1.36')
  const directory = mkdtempSync(join(tmpdir(), 'scheduler-configuration-'))
  try {
    writeFileSync(join(directory, 'kubeconfig'), kubeconfig)
    const own = `clientConnection: {kubeconfig: ${join(directory, 'kubeconfig')}}\nleaderElection: {leaderElect: false}\n`
    const file = join(directory, 'config.yaml')
    for (const text of texts) {
      writeFileSync(file, `${head}${own}${text}\n`)
      await body(program, file, text)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe('a scheduler configuration', () => {
  it('is refused by the real kube-scheduler in the same words', () => {
    const messages = new Map(rejections)
    return withFiles([...messages.keys()], async (program, file, text) =>
      assert.equal(await refuse(program, file), messages.get(text), text),
    )
  })

  it('puts the same plug-ins to work at every point, in the same order', () =>
    withFiles(accepted, async (program, file, text) => {
      const theirs = await expand(program, file)
      const { profiles } = readSchedulerConfiguration(readYaml(readFileSync(file))?.value)
      const [profile] = profiles!(async () => {})
      for (const [point, names] of Object.entries(profile?.points ?? {})) {
        const { Enabled } = theirs[`${point[0]?.toUpperCase()}${point.slice(1)}`]!
        const expected = (Enabled ?? []).map(({ Name }) => Name)
        // At the end may stand what only ours have to say.
        assert.deepEqual(names.slice(0, expected.length), expected, `${point} of ${text}`)
      }
    }))
})
