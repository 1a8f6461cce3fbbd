/**
 * Faster loading of modules.
 * @module
 */
import { registerHooks } from 'node:module'

/**
 * Makes this thread look for an imported file once, not once for each file that imports it: packages are looked for in every
 * folder upwards, and that was a quarter of a start. Only what the specifier means is kept, and only until the thread ends.
 * What is not found, and what `require` asks for, is left to Node.
 */
export function resolveOnce(): void {
  const resolutions = new Map<string, { readonly url: string; readonly format: string | null | undefined }>()
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions } = context
      if (!parentURL?.startsWith('file:') || conditions.includes('require')) return next(specifier, context)
      // A package is the same for all files of a folder.
      const key = specifier.startsWith('.')
        ? new URL(specifier, parentURL).href
        : `${parentURL.slice(0, parentURL.lastIndexOf('/'))} ${specifier}`
      let resolution = resolutions.get(key)
      if (!resolution) {
        const { url, format } = next(specifier, context)
        resolution = { url, format }
        resolutions.set(key, resolution)
      }
      return { ...resolution, shortCircuit: true }
    },
  })
}
