import type { Command } from 'commander'

export interface SchedulerFlags {
  readonly schedulerConfig?: string
  readonly schedulerPlugin?: readonly string[]
}

export function addSchedulerOptions(command: Command): Command {
  return command
    .option(
      '--scheduler-config <file>',
      'KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): profiles, plug-ins, extenders',
    )
    .option(
      '--scheduler-plugin <file...>',
      'your own scheduler plug-ins; the configuration enables them, or all are enabled without one',
    )
}
