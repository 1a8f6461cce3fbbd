/** `npm run pack -- FOLDER`: builds every package and puts its tarball there, for `npm install FOLDER/*.tgz` elsewhere. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages } from './build/build-packages.ts'
import { packPackages } from './build/pack-packages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const [folder] = process.argv.slice(2)
if (folder === undefined || folder.startsWith('-')) {
  console.error('usage: npm run pack -- FOLDER')
  process.exit(2)
}
const tarballs = await packPackages(root, await buildPackages(root), resolve(folder))
console.log(`${tarballs.length} tarballs in ${folder}`)
