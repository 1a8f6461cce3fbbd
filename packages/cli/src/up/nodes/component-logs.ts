import { type Clock, type LogFields, type Logger, type LogLevel, LogThreshold } from '@coxswain/kit'
import { LogBuffer } from '@coxswain/kubelet/host'

/** The control plane components with a log of their own, by kubeadm's names. */
export const components = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'etcd',
  'kube-proxy',
] as const

export type Component = (typeof components)[number]

export interface ComponentLogs {
  /** Writes to `target`, and to the log of the component. */
  readonly log: Logger
  of(component: Component): LogBuffer
}

/** The level of component logs, whatever that of standard error. */
const kept = new LogThreshold('info')
const letters: Readonly<Record<LogLevel, string>> = { debug: 'I', info: 'I', warn: 'W', error: 'E' }

/** Fields that identify the writer: the last of them is in the header of a line. */
const writers: readonly string[] = ['component', 'operator', 'controller', 'task', 'webhooks', 'informer']

/**
 * Keeps the logs of the control plane components, from `info` on whatever the level of `target`. The component is found by the
 * fields of child loggers: the store's `component`, an operator's name, a controller's. The rest is the API server.
 */
export function createComponentLogs(target: Logger, level: LogThreshold, clock: Clock): ComponentLogs {
  const buffers = new Map(components.map(component => [component, new LogBuffer(clock)]))
  const of = (component: Component) => buffers.get(component)!
  const create = (bound: LogFields, component: Component | undefined): Logger => {
    const write = (as: LogLevel) => (message: string, fields?: LogFields) => {
      const isShown = level.admits(as)
      if (!isShown && !kept.admits(as)) return
      const all = { ...bound, ...fields }
      if (isShown) target[as](message, all)
      if (component) of(component).append(formatRecord(as, clock.now(), message, all))
    }
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: fields => create({ ...bound, ...fields }, componentOf(fields, component)),
    }
  }
  return { log: create({}, 'kube-apiserver'), of }
}

function componentOf(fields: LogFields, parent: Component | undefined): Component | undefined {
  if (fields.controller === 'service-proxy') return 'kube-proxy'
  const name = fields.component ?? fields.operator
  // Operators and nodes have their own logs.
  return name === undefined ? parent : components.find(component => component === name)
}

/** A line as klog prints it: `W1231 23:59:59.123000       1 WRITER] "message" key="value"`. */
function formatRecord(level: LogLevel, now: number, message: string, fields: LogFields): string {
  const time = new Date(now).toISOString()
  const writer = writers.findLast(name => fields[name] !== undefined)
  const head = `${letters[level]}${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 23)}000`
  const pairs = Object.entries(fields)
    .filter(([name, value]) => !writers.includes(name) && value !== undefined)
    .map(([name, value]) => ` ${name === 'error' ? 'err' : name}=${formatValue(value)}`)
  return `${head}       1 ${writer === undefined ? 'coxswain' : fields[writer]}] ${JSON.stringify(message)}${pairs.join('')}`
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message)
  if (typeof value === 'string') return JSON.stringify(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return JSON.stringify(String(value)) // a bigint, or a circular structure
  }
}
