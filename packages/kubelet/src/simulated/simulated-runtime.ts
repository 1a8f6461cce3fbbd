import type { Clock, Timer } from '@coxswain/kit'
import type {
  ContainerExit,
  ContainerIdentity,
  ContainerRuntime,
  ContainerSpec,
  ContainerUsage,
  FoundImage,
  RunningContainer,
} from '../container-runtime.ts'
import { MemoryLog, readMemoryLog } from '../logs/memory-log.ts'
import { declaredUsageOf } from './declared-usage.ts'
import { findProblem } from './missing-image.ts'
import { refuseToSimulate } from './refusal.ts'
import { courseOf, defaultStages, type SimulatedCourse, type SimulatedStages } from './stages.ts'

/** Options of {@link createSimulatedRuntime}. */
export interface SimulatedRuntimeOptions {
  /** The default course of containers; Pods may override it with annotations. */
  readonly stages?: SimulatedStages
  /** Images that cannot be pulled, besides those whose names say so. @default none */
  readonly missingImages?: readonly string[]
}

/** The exit code of a stopped container: 128 and SIGTERM. */
const stoppedExit: ContainerExit = { exitCode: 143, signal: 15 }
const imageBytes = 10_000_000

interface Simulated extends ContainerIdentity {
  readonly startedAt: number
  /** Processor time used until `at`. */
  used: { readonly at: number; readonly cpuNanoseconds: number }
  readonly log: MemoryLog
  readonly handle: RunningContainer
  /** Its timers, if it has any. */
  leave(): void
}

/**
 * Containers that only seem to run: they start, become ready and end on a schedule, and cost nothing in between. They outlive
 * the kubelet, since their state is in the API server.
 */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions = {}): ContainerRuntime {
  const stages: Required<SimulatedStages> = { ...defaultStages, ...options.stages }
  const missing = new Set(options.missingImages)
  /** By Pod, then by name and attempt. */
  const pods = new Map<string, Map<string, Simulated>>()
  const running = new Set<Simulated>()
  let time: Clock | undefined
  const clockOf = (): Clock => {
    if (!time) throw new Error('the simulated runtime has not been started')
    return time
  }

  const findImage = async (image: string): Promise<FoundImage> => {
    const message = missing.has(image)
      ? `image ${JSON.stringify(image)} is in missingImages`
      : findProblem(image)
    if (message !== undefined) return { found: false, message }
    return { found: true, id: `simulated://${image}`, sizeBytes: imageBytes }
  }

  function begin(spec: ContainerSpec, startedAt: number, course: SimulatedCourse): RunningContainer {
    const clock = clockOf()
    const { pod, name, attempt } = spec
    const log = new MemoryLog(clock)
    const age = Math.max(0, clock.now() - startedAt)
    const timers: Timer[] = []
    const over = Promise.withResolvers<ContainerExit>()
    const readyAfter = course.ready - age
    const ready = readyAfter > 0 ? Promise.withResolvers<void>() : undefined
    const leave = () => {
      for (const timer of timers) timer.cancel()
    }
    const end = (exit: ContainerExit) => {
      if (!running.delete(container)) return
      leave()
      log.print('stdout', `simulated: container ${name} has ended with exit code ${exit.exitCode}`)
      log.end()
      over.resolve(exit)
    }
    const handle: RunningContainer = {
      id: `${pod.uid}-${name}-${attempt}`,
      exited: over.promise,
      isSimulated: true,
      ...(ready && { ready: ready.promise }),
      async stop() {
        end(stoppedExit)
      },
      exec: async () => {
        throw refuseToSimulate('exec')
      },
      attach: async () => {
        throw refuseToSimulate('attach')
      },
    }
    const used = { at: startedAt, cpuNanoseconds: 0 }
    const container: Simulated = { pod, name, attempt, startedAt, used, log, handle, leave }
    running.add(container)
    const own = pods.get(pod.uid) ?? new Map<string, Simulated>()
    pods.set(pod.uid, own.set(`${name}/${attempt}`, container))
    log.print('stdout', `simulated: container ${name} of image ${spec.image} runs; nothing is executed`)
    if (ready) timers.push(clock.after(readyAfter, () => ready.resolve()))
    if (course.run !== undefined)
      timers.push(clock.after(Math.max(0, course.run - age), () => end({ exitCode: course.exitCode })))
    return handle
  }

  return {
    name: 'simulated',
    isSimulated: true,
    async start(clock) {
      time = clock
      pods.clear()
      running.clear()
    },
    async keepPods() {},
    findImage,
    async pullImage(image, signal) {
      if (stages.pull > 0) await clockOf().sleep(stages.pull, { signal })
      return await findImage(image)
    },
    async writeVolumes() {},
    async startContainer(spec, signal) {
      const course = courseOf(spec, stages)
      if (course.start > 0) await clockOf().sleep(course.start, { signal })
      return begin(spec, clockOf().now(), course)
    },
    adoptContainer: (spec, startedAt) => begin(spec, startedAt, courseOf(spec, stages)),
    readLog: ({ pod, name, attempt }, logOptions) =>
      readMemoryLog(pods.get(pod.uid)?.get(`${name}/${attempt}`)?.log, logOptions),
    probe: async () => ({ success: true, message: '' }),
    async dial() {
      throw refuseToSimulate('dial')
    },
    async removePod({ uid }) {
      pods.delete(uid)
    },
    async usage(views): Promise<readonly ContainerUsage[]> {
      const time = clockOf().now()
      return views.flatMap(view => {
        const own = [...(pods.get(view.metadata.uid ?? '')?.values() ?? [])]
        return own
          .filter(container => running.has(container))
          .map(container => {
            const { pod, name, startedAt, used } = container
            const { nanoCores, memoryBytes } = declaredUsageOf(view, name)
            const cpuNanoseconds = used.cpuNanoseconds + (Math.max(0, time - used.at) / 1_000) * nanoCores
            container.used = { at: time, cpuNanoseconds }
            return { pod, container: name, time, startedAt, cpuNanoseconds, nanoCores, memoryBytes }
          })
      })
    },
    async [Symbol.asyncDispose]() {
      for (const container of running) container.leave()
    },
  }
}
