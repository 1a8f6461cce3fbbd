import { highestScore, type SchedulerPlugin } from '../plugin.ts'

const mebibyte = 1024 * 1024
const least = 23 * mebibyte
const mostPerContainer = 1000 * mebibyte

/** Prefers nodes that have large images of the pod already, the less so the fewer nodes have them. */
export const imageLocality: SchedulerPlugin = {
  name: 'ImageLocality',
  score: ({ pod: { pod }, nodes }, node) => {
    if (node.images.size === 0) return 0
    const { containers, initContainers = [], volumes = [] } = pod.spec
    const images = [
      ...[...initContainers, ...containers].map(({ image = '' }) => image),
      ...volumes.flatMap(({ image }) => (image?.reference ? [image.reference] : [])),
    ]
    let sum = 0
    for (const image of images.map(withTag)) {
      const size = node.images.get(image)
      if (size === undefined) continue
      const holders = nodes.reduce((count, other) => count + (other.images.has(image) ? 1 : 0), 0)
      sum += Math.trunc((size * holders) / nodes.length)
    }
    const most = mostPerContainer * (containers.length + initContainers.length)
    const bounded = Math.min(Math.max(sum, least), most)
    return Math.trunc((highestScore * (bounded - least)) / (most - least))
  },
}

function withTag(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name
}
