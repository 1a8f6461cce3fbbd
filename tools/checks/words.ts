/**
 * Kubernetes people have fixed words, and so has plain English: `docs/glossary.md` has ours, this list what is said in their place. Identifiers,
 * comments, texts and documents are searched; the count of each word only falls.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRatchet, type Occurrence, type Ratchet } from './ratchet.ts'
import { findFiles, lineAt } from './source.ts'

interface BannedWord {
  readonly word: string
  readonly pattern: RegExp
  readonly instead: string
}

/** `word` anywhere, inside identifiers too. */
const part = (word: string, instead: string): BannedWord => ({
  word,
  pattern: new RegExp(word, 'gi'),
  instead,
})

/** A word or words of its own, line breaks and the margins of comments between them. */
function phrase(words: string, instead: string): BannedWord {
  const pattern = words.replaceAll(' ', String.raw`(?:\s|\n\s*(?:\*|//)\s*)+`)
  return { word: words, pattern: new RegExp(String.raw`\b${pattern}\b`, 'gi'), instead }
}

export const bannedWords: readonly BannedWord[] = [
  part('wishes', 'spec or desired'),
  phrase('wish', 'spec or desired'),
  part('stranger', 'an unauthenticated client, another controller, a client'),
  part('insider', 'what it may do: an internal or privileged client'),
  part('newsFirst', 'what comes first: watch events'),
  part('namespaceGoing', 'terminating'),
  part('isGoing', 'terminating, or isDeleting'),
  part('isGone', 'isDeleted'),
  part('permitRoom', 'waiting Pods'),
  part('preBindRoom', 'waiting Pods'),
  phrase('SetView', 'which set: ReplicaSetView, StatefulSetView, DaemonSetView'),
  phrase('nobody', 'no one, or better who: no controller, no client'),
  phrase('somebody', 'who it is: another controller, another client, the user'),
  phrase('anybody', 'any client, anyone'),
  phrase('everybody', 'every client, everyone'),
  phrase('whoever', 'the caller, the client that'),
  phrase('whom', 'who, or a shorter sentence'),
  phrase('is no time', 'is not a valid RFC 3339 time'),
  phrase('is going', 'is terminating, is being deleted'),
  phrase('are going', 'are terminating, are being deleted'),
  phrase('is gone', 'is deleted, was deleted'),
  phrase('are gone', 'are deleted, were deleted'),
  phrase('was gone', 'was deleted'),
  phrase('news', 'watch events'),
  phrase('fate', 'fault, or what happens to it'),
  phrase('told', 'reported, or who says it'),
  phrase('for ever', 'forever'),
  phrase('what is too much', 'requests over the limit are rejected'),
  phrase('way out of this server', 'this server has no outbound network access'),
]

/** The list itself, what plants violations, and what happened under the old names. */
const exempt = new Set([
  'tools/checks/words.ts',
  'tools/checks/words.test.ts',
  'docs/glossary.md',
  'CHANGELOG.md',
])

export const words: Ratchet = createRatchet({
  name: 'words',
  rule: 'a word that Kubernetes has another for: see docs/glossary.md',
  groupOf: key => key.split(' in ')[0]!,
  find: findWords,
})

async function findWords(root: string): Promise<readonly Occurrence[]> {
  const paths = await findFiles(root, [
    '*.md',
    '{packages,tools,bench,examples,interop,docs}/**/*.{ts,js,md}',
  ])
  const found = await Promise.all(
    paths
      .filter(path => !exempt.has(path))
      .map(async path => {
        const text = await readFile(join(root, path), 'utf8')
        return bannedWords.flatMap(({ word, pattern, instead }) =>
          [...text.matchAll(pattern)].map(({ index }) => ({
            key: `${word} in ${areaOf(path)}`,
            file: path,
            line: lineAt(text, index),
            message: `say ${instead}`,
          })),
        )
      }),
  )
  return found.flat()
}

/** `packages/kit`, `tools`, `docs`: the part of the repository that a count is of. */
function areaOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  return folders[0] === 'packages' ? folders.slice(0, 2).join('/') : (folders[0] ?? 'the root')
}
