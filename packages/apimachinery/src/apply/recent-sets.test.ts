import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PathCollector } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import { leafSet, RecentSets, type SharedSet } from './recent-sets.ts'

const leaves = (keys: readonly string[]): SharedSet[] => keys.map(() => leafSet)

describe('recent sets', () => {
  const fields = new RecentSets(fieldElement)
  const find = (...keys: string[]) => fields.find(keys, leaves(keys))

  it('are shared by values with the same fields, and are in order', () => {
    const labels = find('tier', 'app')
    assert.equal(JSON.stringify(labels.set), '{".":{},"f:app":{},"f:tier":{}}')
    assert.equal(find('tier', 'app'), labels)
    const metadata = fields.find(['name', 'labels'], [leafSet, labels])
    assert.equal(fields.find(['name', 'labels'], [leafSet, find('tier', 'app')]), metadata)
    assert.deepEqual(metadata.set, { '.': {}, 'f:labels': labels.set, 'f:name': {} })
  })

  it('differ where a key, the order of keys or something below differs', () => {
    const sets = [
      find('tier', 'app'),
      find('app', 'tier'),
      find('tier', 'apq'),
      find('app'),
      fields.find(['app', 'tier'], [leafSet, find('app')]),
    ]
    assert.equal(new Set(sets).size, sets.length)
    assert.deepEqual(sets[1]!.set, sets[0]!.set)
    assert.deepEqual(sets[4]!.set, { '.': {}, 'f:app': {}, 'f:tier': { '.': {}, 'f:app': {} } })
  })

  it('have a leaf for nothing, and for an element that a list repeats', () => {
    const elements = new RecentSets(element => element)
    assert.equal(elements.find([], []), leafSet)
    const ports = ['k:{"port":80}', 'k:{"port":80}', 'k:{"port":9}']
    const { set } = elements.find(ports, [find('port'), leafSet, find('port')])
    assert.deepEqual(set, { '.': {}, 'k:{"port":80}': {}, 'k:{"port":9}': { '.': {}, 'f:port': {} } })
  })

  it('are not kept when they are large, or hold one that is', () => {
    const many = Array.from({ length: 300 }, (_, index) => `key-${index}`)
    const large = find(...many)
    assert.equal(Object.keys(large.set).length, 301)
    assert.notEqual(find(...many), large)
    assert.deepEqual(find(...many).set, large.set)
    assert.notEqual(fields.find(['data'], [large]), fields.find(['data'], [large]))
    assert.notEqual(find('k'.repeat(200)), find('k'.repeat(200)))
  })

  it('do not change when a walk inserts a path below them', () => {
    const labels = find('tier', 'app')
    const paths = new PathCollector()
    paths.insert(['f:labels'], labels.set)
    paths.insert(['f:labels', 'f:more'], leafSet.set)
    assert.deepEqual(paths.set, { 'f:labels': { '.': {}, 'f:app': {}, 'f:tier': {}, 'f:more': {} } })
    assert.deepEqual(labels.set, { '.': {}, 'f:app': {}, 'f:tier': {} })
  })
})
