import { readdirSync } from 'node:fs'
import type { MetricsRegistry } from '../metrics/registry.ts'

/** Registers the process metrics of Prometheus' client libraries. */
export function registerProcessMetrics(metrics: MetricsRegistry): void {
  const cpu = metrics.counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
  })
  const resident = metrics.gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
  })
  const started = metrics.gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
  })
  const files = metrics.gauge({ name: 'process_open_fds', help: 'Number of open file descriptors.' })
  const startTime = Date.now() / 1_000 - process.uptime()
  let counted = 0
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage()
    const seconds = (user + system) / 1e6
    cpu.add(seconds - counted)
    counted = seconds
    resident.set(process.memoryUsage.rss())
    started.set(Math.round(startTime * 100) / 100)
    const open = countOpenFiles()
    if (open !== undefined) files.set(open)
  })
}

/** Undefined if the system does not report it. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}
