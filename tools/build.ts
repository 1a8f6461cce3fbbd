/** `npm run build`: publishable JavaScript and declarations of every package under `dist/`. */
import { fileURLToPath } from 'node:url'
import { buildPackages } from './build/build-packages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = await buildPackages(root)
console.log(`${packages.length} packages in dist/`)
