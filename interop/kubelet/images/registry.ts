/**
 * `node registry.ts STORE ADDRESS PORT`: lets containerd pull the images of a store that `writeImage` has filled. It is the part
 * of https://github.com/opencontainers/distribution-spec that pulling needs.
 */
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { blobFile, digestOf, manifestFile, manifestType } from './oci-image.ts'

const [store = '', address = '', port = ''] = process.argv.slice(2)

const server = createServer((request, response) => {
  answer(new URL(request.url ?? '/', 'http://registry').pathname, response).catch(() => {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"errors":[{"code":"NAME_UNKNOWN"}]}')
  })
})
server.listen(Number(port), address, () => console.log('ready'))

/** Node leaves out the body of an answer to HEAD. */
async function answer(path: string, response: ServerResponse): Promise<void> {
  const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? []
  if (path === '/v2/') {
    response.end('{}')
  } else if (kind === 'manifests') {
    const manifest = await readFile(manifestFile(store, name, reference), 'utf8')
    response.writeHead(200, {
      'content-type': manifestType,
      'content-length': Buffer.byteLength(manifest),
      'docker-content-digest': digestOf(manifest),
    })
    response.end(manifest)
  } else if (kind === 'blobs') {
    const file = blobFile(store, reference)
    const { size } = await stat(file)
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size })
    createReadStream(file).pipe(response)
  } else throw new Error(`no such path: ${path}`)
}
