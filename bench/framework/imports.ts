import { join } from 'node:path'
import { publishPackages } from '../apimachinery/published.ts'
import { nodeProgram, type Program } from './programs.ts'

/** Programs that import a client and nothing else: ours as JavaScript, the way it is published. */
export async function importPrograms(stack: AsyncDisposableStack): Promise<{
  /** With connections and kubeconfigs. */
  readonly whole: Program
  /** What runs anywhere. */
  readonly core: Program
  readonly clientNode: Program
}> {
  const { folder } = stack.use(
    await publishPackages(['kit', 'apimachinery', 'wire', 'client'], ['pino', 're2js', 'js-yaml']),
  )
  const client = join(folder, 'node_modules/@coxswain/client/src')
  const core = join(client, 'index.js')
  return {
    whole: nodeProgram('ours', './imports-client.ts', core, join(client, 'node/index.js')),
    core: nodeProgram('ours', './imports-client.ts', core),
    clientNode: nodeProgram('client-node', './imports-client.ts'),
  }
}
