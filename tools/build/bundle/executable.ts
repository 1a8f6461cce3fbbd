/**
 * Where the one-file executable begins. Operators that it loads import `coxswain` and its packages: those of the executable,
 * whatever is installed beside them.
 */
import { main } from '@coxswain/cli'
import { modules } from './modules.ts'
import { provideModules } from './provide-modules.ts'

provideModules(modules)
main(process.argv)
