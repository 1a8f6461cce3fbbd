import type { Script } from '../scripted-pods.ts'

const indexOf = ({ metadata }: Parameters<Script>[0]): number =>
  Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? 0)

/** What becomes of a pod is in the name of its image. */
export const outcomeOfImage: Script = (pod, nth) => {
  const image = pod.spec.containers[0]?.image ?? ''
  const [, code] = /^exit-(\d+)$/.exec(image) ?? []
  if (code !== undefined) return Number(code)
  if (image === 'broken') return 'unready'
  if (image === 'flaky') return nth < 2 ? 1 : 0
  if (image === 'odd-fails') return indexOf(pod) % 2
  if (image === 'first-succeeds') return indexOf(pod) === 0 ? 0 : 'ready'
  return 'ready'
}
