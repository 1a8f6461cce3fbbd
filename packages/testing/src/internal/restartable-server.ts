import type { ApiServer } from '@coxswain/apiserver'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'

/** One API server after the other on the same store. While there is none, connections break. */
export class RestartableServer {
  readonly #create: () => ApiServer
  readonly #group: TaskGroup
  #present: { readonly server: ApiServer; readonly tasks: TaskGroup } | undefined

  constructor(create: () => ApiServer, group: TaskGroup) {
    this.#create = create
    this.#group = group
  }

  readonly handler: Handler = request => {
    if (!this.#present) throw new Error('the server is down')
    return this.#present.server.handler(request)
  }

  async start(): Promise<void> {
    const server = this.#create()
    const tasks = new TaskGroup(this.#group.signal)
    tasks.spawn(signal => server.run(signal))
    this.#group.spawn(() => tasks.join())
    await server.ready
    this.#present = { server, tasks }
  }

  async restart(downtime: number, { clock }: Env): Promise<void> {
    const { tasks } = this.#present!
    this.#present = undefined
    tasks.abort()
    await tasks.join()
    if (downtime > 0) await clock.sleep(downtime, { signal: this.#group.signal })
    await this.start()
  }
}
