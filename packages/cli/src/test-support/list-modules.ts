/** For `node --import`: writes the address of each module that is loaded to the file that MODULE_LIST names. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.MODULE_LIST!, `${url}\n`)
    return next(url, context)
  },
})
