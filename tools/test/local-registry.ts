import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Tarball } from '../build/pack-packages.ts'
import { runOrFail } from '../components/process.ts'

/**
 * A registry that has our tarballs, and redirects requests for anything else to the one npm is set to. With it
 * `npm install coxswain` does what it will do once the packages are published.
 */
export async function serveRegistry(
  tarballs: readonly Tarball[],
): Promise<{ readonly url: string } & AsyncDisposable> {
  const upstream = (await runOrFail('npm', ['config', 'get', 'registry'])).trim().replace(/\/$/, '')
  const byName = new Map(tarballs.map(tarball => [tarball.name, tarball]))
  const server = createServer((request, response) => {
    answer(request.url ?? '/', response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  const answer = async (target: string, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(target.slice(1).split('?')[0]!)
    const file = tarballs.find(({ name, version }) => path === `-/${name}/${version}.tgz`)
    const tarball = byName.get(path)
    if (file) response.end(await readFile(file.file))
    else if (tarball) response.end(JSON.stringify(await describe(tarball)))
    else response.writeHead(302, { location: `${upstream}${target}` }).end()
  }
  const describe = async ({ name, version, file }: Tarball): Promise<object> => {
    const integrity = `sha512-${createHash('sha512')
      .update(await readFile(file))
      .digest('base64')}`
    const text = await runOrFail('tar', ['-xOzf', file, 'package/package.json'])
    const manifest = JSON.parse(text) as object
    const dist = { integrity, tarball: `${url}/-/${name}/${version}.tgz` }
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
