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
      'plug-ins of your own for the scheduler; the configuration names them, without one they are simply at work',
    )
}
