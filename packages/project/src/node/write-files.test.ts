import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isProjectError } from '../errors.ts'
import { compareFiles } from './compare-files.ts'
import { writeFiles } from './write-files.ts'

function scratch(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-files-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

describe('writing the files of a project', () => {
  it('creates folders, replaces and removes files, and leaves nothing else behind', () => {
    using folder = scratch()
    writeFileSync(join(folder.path, 'a.yaml'), 'old\n')
    writeFileSync(join(folder.path, 'b.yaml'), 'b\n')
    const files = [
      { path: 'a.yaml', content: 'new\n' },
      { path: 'bin/run', content: new TextEncoder().encode('#!/bin/sh\n'), executable: true },
    ]
    assert.deepEqual(compareFiles(folder.path, files), [
      { path: 'a.yaml', state: 'stale' },
      { path: 'bin/run', state: 'missing' },
    ])
    writeFiles(folder.path, files, { remove: ['b.yaml', 'c.yaml'] })
    assert.equal(read(folder.path, 'a.yaml'), 'new\n')
    assert.equal(statSync(join(folder.path, 'bin/run')).mode & 0o111, 0o111)
    assert.deepEqual(readdirSync(folder.path, { recursive: true }).sort(), ['a.yaml', 'bin', 'bin/run'])
    assert.deepEqual(compareFiles(folder.path, files), [])
  })

  it('changes nothing when one of them cannot be written', () => {
    using folder = scratch()
    writeFileSync(join(folder.path, 'a.yaml'), 'old\n')
    writeFileSync(join(folder.path, 'gone.yaml'), 'kept\n')
    mkdirSync(join(folder.path, 'taken'))
    assert.throws(
      () =>
        writeFiles(
          folder.path,
          [
            { path: 'new/deep/x', content: 'x' },
            { path: 'a.yaml', content: 'new\n' },
            { path: 'taken', content: '' },
          ],
          { remove: ['gone.yaml'] },
        ),
      error => isProjectError(error, 'NotWritten') && /taken cannot be written/.test(error.message),
    )
    assert.equal(read(folder.path, 'a.yaml'), 'old\n')
    assert.deepEqual(readdirSync(folder.path, { recursive: true }).sort(), ['a.yaml', 'gone.yaml', 'taken'])
  })

  it('says that a folder cannot be made where a file is', () => {
    using folder = scratch()
    writeFileSync(join(folder.path, 'a'), 'kept\n')
    assert.throws(
      () => writeFiles(folder.path, [{ path: 'a/b', content: '' }]),
      error => isProjectError(error, 'NotWritten') && /is not a directory/.test(error.message),
    )
    assert.deepEqual(readdirSync(folder.path), ['a'])
  })

  it('refuses paths and symbolic links that lead out of the folder', () => {
    using folder = scratch()
    using outside = scratch()
    symlinkSync(outside.path, join(folder.path, 'link'))
    for (const path of ['../x', '/x', 'a//b', 'a/./b', '', 'link/x', 'a\\b']) {
      assert.throws(
        () => writeFiles(folder.path, [{ path, content: '' }]),
        error => isProjectError(error, 'BadPath'),
        path,
      )
    }
    assert.deepEqual(readdirSync(outside.path), [])
    assert.ok(!existsSync(join(folder.path, 'a')))
  })
})
