/** Where the thread of the control loops begins in the one-file executable: plug-ins of the scheduler import it. */
import '../../../packages/cli/src/up/loops/loops-entry.ts'
import * as scheduler from '@coxswain/scheduler'
import { provideModules } from './provide-modules.ts'

provideModules({ '@coxswain/scheduler': () => scheduler })
