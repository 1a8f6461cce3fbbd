/** Loaded before a test file: puts the mistake that PLANTED_MISTAKE describes into the source that is loaded. */
import { registerHooks } from 'node:module'
import type { Mistake } from './controller-mistakes.ts'

const { file, edits } = JSON.parse(process.env.PLANTED_MISTAKE!) as Mistake
const target = new URL(`../../../${file}`, import.meta.url).href

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (url !== target) return loaded
    let source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    for (const [right, wrong] of edits) {
      if (source.split(right).length !== 2) throw new Error(`${file} has not one ${JSON.stringify(right)}`)
      source = source.replace(right, () => wrong)
    }
    return { ...loaded, source }
  },
})
