import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { formatPlatform, type Platform, parsePlatform, parseReference } from '@coxswain/project/image'
import { writeFiles } from '@coxswain/project/node'
import {
  type BuiltImage,
  buildImage,
  type ImageSource,
  openLayout,
  writeImage,
} from '@coxswain/project/node/images'
import { CommandError } from '../exit.ts'
import { loadConfig, operatorsOf } from '../host/load-config.ts'
import type { ImageBuildOptions } from './options.ts'
import { explained, formatSize, parseTags, Registries } from './registries.ts'

/** Builds an image, and writes and pushes it as the options say. */
export async function runImageBuild(folder: string, options: ImageBuildOptions): Promise<void> {
  await explained(async () => {
    const tags = parseTags(options.tag ?? [])
    if (options.push && tags.length === 0)
      throw new CommandError('--push needs a --tag that says where to', { exitCode: 2 })
    if (!options.push && options.output === undefined)
      throw new CommandError('say where the image goes: --output DIR or FILE.tar, or --push', { exitCode: 2 })
    const platforms = parsePlatforms(options.platform)
    const labels = parseLabels(options.label ?? [])
    const time = readTime(process.env.SOURCE_DATE_EPOCH)
    using registries = new Registries(options.insecureRegistry ?? [])
    const operators = await findOperators(folder, options.config)
    const base = await openBase(options.base, registries)
    const exclude = [options.output, options.sbom].flatMap(path =>
      path === undefined ? [] : [resolve(path)],
    )
    using built = await buildImage({ folder, base, platforms, operators, time, labels, exclude })
    tell(built, platforms)
    if (options.output !== undefined) await writeImage(built.image, { output: options.output, tags })
    if (options.sbom !== undefined) writeSbom(options.sbom, built.sbom)
    if (options.push)
      await registries.push(built.image, tags, options.sbom === undefined ? undefined : built.sbom)
    else process.stdout.write(`${options.output}@${built.image.root.digest}\n`)
  })
}

function tell({ layers, warnings }: BuiltImage, platforms: readonly Platform[]): void {
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
  const sizes = layers.map(({ title, blob }) => `${title} ${formatSize(blob.descriptor.size)}`)
  process.stderr.write(`built for ${platforms.map(formatPlatform).join(', ')}: ${sizes.join(', ')}\n`)
}

async function openBase(name: string, registries: Registries): Promise<ImageSource | undefined> {
  if (name === 'scratch') return undefined
  if (name.startsWith('oci:')) return openLayout(name.slice('oci:'.length))
  return await registries.open(parseReference(name))
}

function parsePlatforms(text: string | undefined): Platform[] {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const platforms = (text ?? `linux/${architecture}`).split(',').map(each => parsePlatform(each.trim()))
  const names = platforms.map(formatPlatform)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw new CommandError(`--platform names ${repeated} twice`, { exitCode: 2 })
  return platforms
}

function parseLabels(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map(text => {
      const at = text.indexOf('=')
      if (at < 1) throw new CommandError(`--label ${text}: expected KEY=VALUE`, { exitCode: 2 })
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

/** Seconds since 1970. */
function readTime(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  const largest = 0o77777777777
  if (!/^\d{1,11}$/.test(text) || Number(text) > largest)
    throw new CommandError(`SOURCE_DATE_EPOCH is not a number of seconds since 1970: ${text}`, {
      exitCode: 2,
    })
  return Number(text)
}

/** The operators that coxswain.config.ts names: then the image reads them there. Otherwise operator.ts. */
async function findOperators(folder: string, named: string | undefined): Promise<string[]> {
  const usual = ['coxswain.config.ts', 'coxswain.config.js', 'coxswain.config.mjs'].map(name =>
    join(folder, name),
  )
  const file = named ?? usual.find(name => existsSync(name))
  const config = file === undefined ? undefined : await loadConfig(file)
  const operators = config === undefined ? [] : operatorsOf(config)
  if (operators.length === 0) return ['operator.ts']
  return operators.map(operator => relative(resolve(folder), resolve(operator)))
}

/** Whole or not at all. */
function writeSbom(file: string, content: Uint8Array): void {
  writeFiles(dirname(resolve(file)), [{ path: basename(file), content }])
}
