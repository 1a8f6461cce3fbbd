import assert from 'node:assert/strict'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import { createLogger, type LogRecord, type StepRecord, type Tracer, VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type Transport } from '@coxswain/wire'
import { Manager, type ManagerOptions } from '../manager.ts'
import type { Operator } from '../operator.ts'
import type { ReconcileRecord } from '../reconcile-record.ts'
import { FakeServer } from './fake-server.ts'

export interface Widget extends ApiObject {
  spec: { size: number; [field: string]: unknown }
  status?: { phase?: string; seen?: number }
}

export interface WidgetInput {
  metadata: ObjectMeta
  spec: Widget['spec']
  status?: Widget['status']
}

export interface Pod extends ApiObject {
  spec?: { nodeName?: string }
  status?: { phase?: string }
}

export const widgetKind: Kind<Widget, WidgetInput, WidgetInput> = createKind(
  'example.com',
  'Widget',
  'widgets',
)
export const podKind: Kind<Pod, { metadata: ObjectMeta }, { metadata: ObjectMeta }> = createKind(
  '',
  'Pod',
  'pods',
)
export const secretKind: Kind = createKind('', 'Secret', 'secrets')

function createKind<T extends ApiObject, C>(group: string, kind: string, resource: string): Kind<T, C, C> {
  return {
    group,
    version: 'v1',
    kind,
    listKind: `${kind}List`,
    resource,
    singular: kind.toLowerCase(),
    namespaced: true,
    schema: () => ({ type: 'object' }),
  }
}

export const widgetPath = (name: string): string => `/apis/example.com/v1/namespaces/default/widgets/${name}`
export const podPath = (name: string): string => `/api/v1/namespaces/default/pods/${name}`

export interface SimulationOptions {
  readonly seed?: number
  readonly manager?: Omit<ManagerOptions, 'env' | 'transport' | 'client'>
}

export interface Running {
  readonly manager: Manager
  readonly transport: Transport
  readonly stopped: Promise<void>
  stop(): void
}

/** A virtual world with a server, and operators that can be started and stopped. Fails on leaked watches and timers. */
export class Simulation implements AsyncDisposable {
  readonly world: VirtualWorld
  readonly server: FakeServer
  readonly logs: LogRecord[] = []
  readonly steps: StepRecord[] = []
  readonly records: ReconcileRecord[] = []
  readonly #options: SimulationOptions
  readonly #running: { readonly controller: AbortController; readonly done: Promise<unknown> }[] = []

  constructor(options: SimulationOptions = {}) {
    this.#options = options
    this.world = new VirtualWorld({
      seed: options.seed ?? 1,
      onStep: step => this.steps.push(step),
      log: () => createLogger(record => this.logs.push(record)),
    })
    this.server = new FakeServer(this.world)
  }

  /** Starts an operator. Its `stopped` settles as its run does. */
  start(
    operator: Operator | readonly Operator[],
    { tracer, ...options }: SimulationOptions['manager'] & { readonly tracer?: Tracer } = {},
  ): Running {
    const transport = createInProcessTransport(this.server.handler, this.world)
    const manager = new Manager(operator, {
      transport,
      env: tracer ? { ...this.world, tracer } : this.world,
      freeze: true,
      onReconcile: record => this.records.push(record),
      ...this.#options.manager,
      ...options,
    })
    const controller = new AbortController()
    const stopped = manager.run(controller.signal)
    stopped.catch(() => {})
    this.#running.push({ controller, done: stopped.catch(() => {}) })
    return { manager, transport, stopped, stop: () => controller.abort() }
  }

  createWidget(name: string, size = 1, metadata: Partial<ObjectMeta> = {}): void {
    this.server.put(widgetPath(name), {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { namespace: 'default', name, ...metadata },
      spec: { size },
    })
  }

  warnings(): string[] {
    return this.logs
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(({ message }) => message)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { controller } of this.#running) controller.abort()
    await this.world.run(Promise.all(this.#running.map(({ done }) => done)))
    await this.world.settle()
    assert.equal(this.server.openWatches, 0, 'a watch was left open')
    assert.equal(this.world.nextTimer, undefined, 'a timer was left behind')
  }
}
