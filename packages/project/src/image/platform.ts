import { ProjectError } from '../errors.ts'

/** As in an image index. */
export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant?: string
}

/** Reads `linux/amd64` or `linux/arm64/v8`. Throws `BadReference`. */
export function parsePlatform(text: string): Platform {
  const match = /^([a-z0-9]+)\/([a-z0-9]+)(?:\/([a-z0-9]+))?$/.exec(text)
  if (!match)
    throw new ProjectError(
      'BadReference',
      `${JSON.stringify(text)} is not a platform, for example linux/amd64 or linux/arm64`,
    )
  const [, os = '', architecture = '', variant] = match
  return { os, architecture, ...(variant !== undefined && { variant }) }
}

/** `os/architecture`, with the variant if there is one. */
export function formatPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, variant].filter(part => part !== undefined).join('/')
}

/** Whether an image of `offered` runs where `wanted` is asked for; arm64 is arm64/v8. */
export function isSamePlatform(wanted: Platform, offered: Platform): boolean {
  return (
    wanted.os === offered.os &&
    wanted.architecture === offered.architecture &&
    (wanted.variant === undefined || wanted.variant === variantOf(offered))
  )
}

const variantOf = ({ architecture, variant }: Platform) =>
  variant ?? (architecture === 'arm64' ? 'v8' : undefined)
