/** `node bench/control-loops/ours.ts KUBECONFIG loops|scheduler|nodes COUNT`: one of our programs, in a process of its own. */
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { controllerNames } from '@coxswain/controllers/names'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { abortOnSignals, createPinoLogger } from '@coxswain/kit/node'
import { createSimulatedNodes } from '@coxswain/kubelet'
import { type Operator, runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { createControllerManager } from '../../packages/cli/src/up/loops/control-loops.ts'

const [kubeconfig = '', program = '', count = '1'] = process.argv.slice(2)
const env = createRealEnv(createPinoLogger({ level: 'warn' }))

const unused = () => {
  throw new Error('the benchmark signs nothing')
}

/** All of them but those that need the server's keys. */
const createManager = (): Operator =>
  createControllerManager({
    env,
    controllers: controllerNames.filter(name => !/^certificatesigningrequest|token-controller$/.test(name)),
    rootCa: 'none',
    volumes: '/nonexistent',
    ca: { certificate: '', key: '' },
    signToken: unused,
  })

const programs: Readonly<Record<string, () => readonly Operator[]>> = {
  loops: () => [createManager(), createScheduler()],
  scheduler: () => [createScheduler()],
  nodes: () => [createSimulatedNodes({ count: Number(count) })],
}

using stop = abortOnSignals()
await using group = new TaskGroup(stop.signal)
for (const operator of programs[program]?.() ?? []) {
  const { client } = await createClientFromKubeconfig({
    env,
    kubeconfig,
    userAgent: operator.name,
    onWarning: () => {},
  })
  group.spawn(signal => runOperator(operator, { client, env, signal, errorEvents: false }))
}
process.stdout.write('started\n')
await group.join()
process.exit(0)
