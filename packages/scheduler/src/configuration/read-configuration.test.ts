import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { SchedulerPlugin } from '../plugin.ts'
import { compileProfile, type Profile } from '../profile.ts'
import { type ReadConfigurationOptions, readSchedulerConfiguration } from './read-configuration.ts'
import { head, rejections } from './test-support/rejections.ts'

const read = (text: string, options: ReadConfigurationOptions = {}) =>
  readSchedulerConfiguration(readYaml(head + text)?.value, options)

const profilesOf = (text: string, options: ReadConfigurationOptions = {}): readonly Profile[] =>
  read(text, options).profiles!(async () => {})

const profileOf = (plugins: string): Profile => profilesOf(`profiles: [{plugins: ${plugins}}]`)[0]!

describe('a scheduler configuration', () => {
  it('is rejected in the words of kube-scheduler', () => {
    for (const [text, message] of rejections)
      assert.throws(() => read(text), { code: 'BadConfiguration', message }, text)
  })

  it("may name upstream's plug-ins at points that ours do not extend, and configure unknown ones", () => {
    const text =
      'profiles: [{plugins: {preFilter: {enabled: [{name: NodeResourcesFit}]}, bind: {enabled: [{name: DefaultBinder}], disabled: [{name: "*"}]}, score: {enabled: [{name: NodeResourcesFit, weight: 0}]}, placementScore: {}}, pluginConfig: [{name: Other, args: {a: 1}}]}]'
    assert.deepEqual(profilesOf(text)[0]?.points?.bind, ['DefaultBinder'])
  })

  it('cannot disable points that only ours extend', () => {
    const { points } = profileOf('{postBind: {disabled: [{name: "*"}]}, preScore: {disabled: [{name: "*"}]}}')
    assert.deepEqual(points?.postBind, ['VolumeBinding'], 'it releases its reservations')
    assert.ok(!points?.preScore.includes('NodeAffinity'))
  })

  it('defaults strings that are empty or missing in leader election, as upstream does', () => {
    for (const election of ['{}', '{leaderElect: true}', '{resourceLock: ""}'])
      assert.doesNotThrow(() => read(`leaderElection: ${election}`), election)
  })

  it('is refused when it is something else', () => {
    for (const document of [
      undefined,
      { kind: 'Pod', apiVersion: 'v1' },
      { kind: 'KubeSchedulerConfiguration' },
    ])
      assert.throws(() => readSchedulerConfiguration(document), { code: 'BadConfiguration' })
  })

  it('without profiles is the default scheduler', () => {
    const options = read('podMaxBackoffSeconds: 30\nclientConnection: {qps: 1}\nparallelism: 3')
    assert.equal(options.maxBackoff, 30_000)
    assert.equal(options.initialBackoff, 1_000)
    const [profile, ...more] = options.profiles!(async () => {})
    assert.deepEqual(more, [])
    assert.equal(profile?.schedulerName, 'default-scheduler')
    const { points = undefined } = profile
    assert.deepEqual(points?.queueSort, ['PrioritySort'])
    assert.deepEqual(points?.filter.slice(0, 4), [
      'NodeUnschedulable',
      'NodeName',
      'TaintToleration',
      'NodeAffinity',
    ])
  })

  it('disables plug-ins at one point, at all of them, and all at one point', () => {
    const one = profileOf('{score: {disabled: [{name: NodeAffinity}]}}')
    assert.ok(!one.points?.score.includes('NodeAffinity'))
    assert.ok(one.points?.filter.includes('NodeAffinity'))
    const everywhere = profileOf('{multiPoint: {disabled: [{name: NodeAffinity}]}}')
    assert.ok(!everywhere.plugins.some(({ plugin }) => plugin.name === 'NodeAffinity'))
    const all = profileOf('{score: {disabled: [{name: "*"}], enabled: [{name: ImageLocality, weight: 5}]}}')
    assert.deepEqual(all.points?.score, ['ImageLocality'])
    assert.equal(compileProfile(all).weights.get('ImageLocality'), 5)
    assert.deepEqual(
      compileProfile(all)
        .at('score')
        .map(({ name }) => name),
      ['ImageLocality'],
    )
  })

  it('runs plug-ins named at a point before the others, and keeps the position of those that multiPoint changes', () => {
    const named = profileOf('{filter: {enabled: [{name: NodePorts}]}}')
    assert.deepEqual(named.points?.filter.slice(0, 2), ['NodePorts', 'NodeUnschedulable'])
    const changed = profileOf('{multiPoint: {enabled: [{name: NodeAffinity, weight: 7}]}}')
    assert.equal(changed.points?.filter.indexOf('NodeAffinity'), 3)
    assert.equal(compileProfile(changed).weights.get('NodeAffinity'), 7)
    const both = profileOf(
      '{multiPoint: {enabled: [{name: NodeAffinity, weight: 7}]}, score: {enabled: [{name: NodeAffinity, weight: 9}]}}',
    )
    assert.equal(compileProfile(both).weights.get('NodeAffinity'), 9)
  })

  it('names custom plug-ins, which receive their arguments', () => {
    const seen: unknown[] = []
    const filter: SchedulerPlugin['filter'] = () => undefined
    const plain: SchedulerPlugin = { name: 'Plain', filter }
    const create = (given: unknown) => {
      seen.push(given)
      return { name: 'Made', filter }
    }
    const made = { name: 'Made', create }
    const text =
      'profiles: [{plugins: {multiPoint: {enabled: [{name: Made}]}, filter: {enabled: [{name: Plain}]}}, pluginConfig: [{name: Made, args: {a: 1}}]}]'
    const [profile] = profilesOf(text, { plugins: [plain, made] })
    assert.deepEqual(profile?.points?.filter.slice(-2), ['Made', 'Plain'])
    assert.deepEqual(seen.at(-1), { a: 1 })
    assert.throws(() => read('', { plugins: [{ name: 'NodeName' }] }), /NodeName already exists/)
    const [without] = profilesOf('', { plugins: [plain] })
    assert.ok(!without?.points?.filter.includes('Plain'), 'it was not enabled')
  })

  it('connects extenders', () => {
    const text = 'extenders: [{urlPrefix: "http://x/", filterVerb: f, managedResources: [{name: a.com/b}]}]'
    assert.throws(() => read(text), /extenders\[0\]: extenders are not supported/)
    const { extenders } = read(text, { connectExtender: () => async () => ({}) })
    assert.equal(extenders?.length, 1)
  })

  it('sets percentageOfNodesToScore per profile', () => {
    const [first, second] = profilesOf(
      'percentageOfNodesToScore: 20\nprofiles: [{schedulerName: a, percentageOfNodesToScore: 40}, {schedulerName: b}]',
    )
    assert.equal(first?.percentageOfNodesToScore, 40)
    assert.equal(second?.percentageOfNodesToScore, undefined)
  })
})
