import assert from 'node:assert/strict'
import { it } from 'node:test'
import { findingsWith } from './test-support/plant.ts'
import { bannedWords, words } from './words.ts'

const violations: Readonly<Record<string, string>> = {
  wishes: 'const podWishes = 1',
  stranger: '// Strangers may read it.',
  nobody: "throw new Error('nobody answers')",
  'is no time': '/**\n * What is no\n * time.\n */',
  'is gone': '# A pod is\ngone',
  isGoing: 'if (isGoingAway(pod)) return',
}
for (const [word, text] of Object.entries(violations)) {
  it(`catches ${JSON.stringify(text)}`, async () => {
    const path = text.startsWith('#') ? 'README.md' : 'packages/kit/src/bad.ts'
    const found = await findingsWith(words, { [path]: text })
    const area = path === 'README.md' ? 'the root' : 'packages/kit'
    const { instead } = bannedWords.find(each => each.word === word)!
    assert.equal(found.length, 1, found.join('\n'))
    assert.ok(found[0]!.endsWith(`${word} in ${area}: say ${instead}`), found.join())
  })
}

it('lets parts of other words pass', async () => {
  const text = '// newsletter, fateful, wishful; a Pod is terminating; offset views\n'
  assert.deepEqual(await findingsWith(words, { 'packages/kit/src/good.ts': text }), [])
})
