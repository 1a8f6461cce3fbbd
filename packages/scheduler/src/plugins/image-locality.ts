import { highestScore, type SchedulerPlugin, skip } from '../plugin.ts'

const mebibyte = 1024 * 1024
const least = 23 * mebibyte
const mostPerContainer = 1000 * mebibyte

const name = 'ImageLocality'

/** An image of the pod, and the fraction of nodes that have it. */
interface RequestedImage {
  readonly image: string
  readonly share: number
}

/** Prefers nodes that already have large images of the pod, weighted by how many nodes have them. */
export const imageLocality: SchedulerPlugin = {
  name,
  preScore: ({ pod: { pod }, nodes, data }) => {
    const { containers, initContainers = [], volumes = [] } = pod.spec
    const images = [
      ...[...initContainers, ...containers].map(({ image = '' }) => image),
      ...volumes.flatMap(({ image }) => (image?.reference ? [image.reference] : [])),
    ]
    const requested: RequestedImage[] = []
    for (const image of images.map(withTag)) {
      let holders = 0
      for (const node of nodes) if (node.images.has(image)) holders++
      if (holders > 0) requested.push({ image, share: holders / nodes.length })
    }
    if (requested.length === 0) return skip
    data.set(name, requested)
    return undefined
  },
  score: ({ pod: { pod }, data }, node) => {
    let sum = 0
    for (const { image, share } of data.get(name) as readonly RequestedImage[]) {
      const size = node.images.get(image)
      if (size !== undefined) sum += Math.trunc(size * share)
    }
    const { containers, initContainers = [] } = pod.spec
    const most = mostPerContainer * (containers.length + initContainers.length)
    const bounded = Math.min(Math.max(sum, least), most)
    return Math.trunc((highestScore * (bounded - least)) / (most - least))
  },
}

function withTag(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name
}
