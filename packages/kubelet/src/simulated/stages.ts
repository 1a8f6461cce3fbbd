import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { ContainerSpec } from '../container-runtime.ts'
import { meaningOf } from './command.ts'

/** How long each step of a container takes, in milliseconds, and how it ends. */
export interface SimulatedStages {
  /** Pulling an image that the node does not have. @default 0 */
  readonly pull?: number
  /** Starting a container, once its image is present. @default 500 */
  readonly start?: number
  /** From a container's start until it is ready; probe delays are added. @default 0 */
  readonly ready?: number
  /** From the start to the end of a container whose restart policy is not Always; others run until they are stopped. @default 2000 */
  readonly run?: number
  /** The same for init containers. @default 200 */
  readonly runInit?: number
  /** The exit code of containers that end by themselves. @default 0 */
  readonly exitCode?: number
}

export const defaultStages: Required<SimulatedStages> = {
  pull: 0,
  start: 500,
  ready: 0,
  run: 2_000,
  runInit: 200,
  exitCode: 0,
}

/** What a container does. */
export interface SimulatedCourse {
  readonly start: number
  readonly ready: number
  /** Undefined: until it is stopped. */
  readonly run: number | undefined
  readonly exitCode: number
}

const prefix = 'simulated.coxswain.dev/'

/**
 * The course of a container: from the Pod's annotations, then from its command where that is understood, and from the stages of
 * the runtime otherwise.
 *
 *   simulated.coxswain.dev/start-after: 3s      simulated.coxswain.dev/run-for: 1m
 *   simulated.coxswain.dev/ready-after: 10s     simulated.coxswain.dev/exit-code: "3"
 *
 * They apply to `spec.containers`; with a dot and a name (`run-for.NAME`) to the container of that name,
 * init containers included. A container with `run-for` or `exit-code` ends, whatever its restart policy. Annotations that cannot
 * be parsed are ignored.
 */
export function courseOf(spec: ContainerSpec, stages: Required<SimulatedStages>): SimulatedCourse {
  const { role, restartPolicy } = spec
  const read = (word: string): string | undefined =>
    spec.annotations[`${prefix}${word}.${spec.name}`] ??
    (role === 'main' ? spec.annotations[prefix + word] : undefined)
  const runFor = readDuration(read('run-for'))
  const exitCode = readExitCode(read('exit-code'))
  const meaning = meaningOf([...(spec.command ?? []), ...(spec.args ?? [])], spec.env)
  const usual = role === 'init' ? stages.runInit : stages.run
  const isEndless =
    role === 'sidecar' || role === 'ephemeral' || (role === 'main' && restartPolicy === 'Always')
  return {
    start: readDuration(read('start-after')) ?? stages.start,
    ready: readDuration(read('ready-after')) ?? stages.ready,
    run: runFor ?? (meaning ? limited(meaning.run) : isEndless && exitCode === undefined ? undefined : usual),
    exitCode: exitCode ?? meaning?.exitCode ?? stages.exitCode,
  }
}

const limited = (run: number): number | undefined => (run === Number.POSITIVE_INFINITY ? undefined : run)

function readDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  try {
    return Math.max(0, durationToMilliseconds(parseDuration(text)))
  } catch {
    return undefined
  }
}

function readExitCode(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) < 256 ? Number(text) : undefined
}
