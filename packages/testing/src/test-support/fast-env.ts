import { type Clock, createRealEnv, type Env } from '@coxswain/kit'

/** The real world, `times` as fast: minutes that a test would have to wait for are seconds. */
export function createFastEnv(times: number): Env {
  const real = createRealEnv()
  const { clock } = real
  const begin = clock.now()
  const fast: Clock = {
    now: () => begin + (clock.now() - begin) * times,
    monotonic: () => clock.monotonic() * times,
    after: (ms, callback) => clock.after(ms / times, callback),
    sleep: (ms, options) => clock.sleep(ms / times, options),
  }
  return { ...real, clock: fast }
}
