import type { Client, Discovery } from '@coxswain/client'
import { createDiscovery } from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import type { OnProgress } from './progress.ts'

/** The cluster that is deployed to. */
export interface DeployTarget {
  readonly client: Client
  readonly discovery: Discovery
  readonly env: Pick<Env, 'clock' | 'random'>
  readonly onProgress: OnProgress
  readonly signal?: AbortSignal
}

/** A target whose discovery is shared by everything that is done with it. */
export function createTarget(target: Omit<DeployTarget, 'discovery'>): DeployTarget {
  return { ...target, discovery: createDiscovery(target.client) }
}

/** The abort signal of a target as an option of calls. */
export function callOptions({ signal }: DeployTarget): { signal?: AbortSignal } {
  return signal ? { signal } : {}
}

/** Milliseconds that are left of a time limit, counted from now. */
export function countDown({ env }: DeployTarget, limit: number): () => number {
  const end = env.clock.monotonic() + limit
  return () => Math.max(0, end - env.clock.monotonic())
}
