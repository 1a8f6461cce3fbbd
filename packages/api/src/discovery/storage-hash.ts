import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { BoundedMap, encodeBase64, encodeText, sha256 } from '@coxswain/kit'

const known = new BoundedMap<string, string>(5_000)

/** Discovery's `storageVersionHash`: eight bytes of the hash of the group, version and kind that is stored. */
export function storageVersionHash(info: ResourceInfo): string | undefined {
  const version = info.storedAs?.version ?? info.versions.find(one => one.storage)?.name
  if (version === undefined || !isStored(info)) return undefined
  const key = `${info.storedAs?.group ?? info.group}/${version}/${info.kind}`
  let hash = known.get(key)
  if (hash === undefined) {
    hash = encodeBase64(sha256(encodeText(key)).subarray(0, 8))
    known.set(key, hash)
  }
  return hash
}

/** What can only be created (reviews) or is made up by the server (component statuses) is in no store. */
function isStored(info: ResourceInfo): boolean {
  return info.versions.some(version => version.verbs.includes('watch'))
}
