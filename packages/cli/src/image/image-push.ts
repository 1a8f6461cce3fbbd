import { loadImage, openLayout } from '@coxswain/project/node/images'
import { explained, parseTags, Registries } from './registries.ts'

/** Pushes a layout of the disk. */
export async function runImagePush(
  path: string,
  names: readonly string[],
  insecure: readonly string[],
): Promise<void> {
  await explained(async () => {
    using registries = new Registries(insecure)
    const tags = parseTags(names)
    await registries.push(await loadImage(openLayout(path)), tags)
  })
}
