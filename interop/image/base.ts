import { execFileSync } from 'node:child_process'
import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ImageConfig } from '@coxswain/project/image'
import { encodeDocument, imageManifest, mediaTypes } from '@coxswain/project/image'
import { writeImage } from '@coxswain/project/node/images'
// The parts that a build is made of, to make an image that is not of a project.
import { describeBytes, memoryBlob } from '../../packages/project/src/node/image/blob.ts'
import { type LayerEntry, writeLayer } from '../../packages/project/src/node/image/layer.ts'

/** Writes a base image with nothing but this Node and the libraries it needs, as a layout. */
export async function writeBase(folder: string, scratch: string): Promise<void> {
  const layer = await writeLayer({
    title: 'node',
    entries: nodeEntries(),
    file: join(scratch, 'node.tar.gz'),
    time: 0,
  })
  const config: ImageConfig = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin'], Labels: { vendor: 'shipyard' } },
    rootfs: { type: 'layers', diff_ids: [layer.diffId] },
  }
  const configBytes = encodeDocument(config)
  const configBlob = memoryBlob(describeBytes(mediaTypes.config, configBytes), configBytes)
  const bytes = encodeDocument(imageManifest(configBlob.descriptor, [layer.blob.descriptor], {}))
  const root = describeBytes(mediaTypes.manifest, bytes)
  const manifests = [{ descriptor: root, bytes, config: configBlob, layers: [layer.blob] }]
  await writeImage({ root, bytes, manifests }, { output: folder, tags: [] })
}

function nodeEntries(): LayerEntry[] {
  const node = realpathSync(process.execPath)
  const libraries = execFileSync('ldd', [node], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? []
  const files = new Map([
    ['usr/local/bin/node', node],
    ...libraries.map(path => [path.slice(1), realpathSync(path)] as const),
  ])
  const folders = new Set<string>(['tmp'])
  for (const path of files.keys())
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at))
  return [
    ...[...folders].map(path => ({ path, type: 'folder' as const })),
    ...[...files].map(([path, source]) => ({
      path,
      type: 'file' as const,
      size: statSync(source).size,
      executable: true,
      source,
    })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1))
}
