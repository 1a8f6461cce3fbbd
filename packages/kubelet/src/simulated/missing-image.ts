/** Words in a part of a name or in a tag that are commonly used for a missing image. */
const absent = /(^|[-_.])(non[-_]?existent|(does-?not|doesnt|not)-?exists?|no-?such-\w+|invalid)($|[-_.])/
/** A tag that is commonly used for a missing image. */
const absentTag = '404'

/**
 * The error for an image whose name or tag says that it does not exist; undefined for others. The
 * text is containerd's, which the kubelet passes on.
 */
export function findProblem(image: string): string | undefined {
  const { name, tag } = split(image)
  const full = `${withRegistry(name)}:${tag}`
  const failed = `failed to pull and unpack image "${full}": failed to resolve reference "${full}"`
  if (name.split('/').some(part => absent.test(part))) {
    const denied = 'pull access denied, repository does not exist or may require authorization'
    const said = 'server message: insufficient_scope: authorization failed'
    return `rpc error: code = Unknown desc = ${failed}: ${denied}: ${said}`
  }
  if (tag === absentTag || absent.test(tag))
    return `rpc error: code = NotFound desc = ${failed}: ${full}: not found`
  return undefined
}

function split(image: string): { readonly name: string; readonly tag: string } {
  const [named = ''] = image.split('@')
  const colon = named.lastIndexOf(':')
  if (colon <= named.lastIndexOf('/')) return { name: named, tag: 'latest' }
  return { name: named.slice(0, colon), tag: named.slice(colon + 1) }
}

function withRegistry(name: string): string {
  const [first = '', ...rest] = name.split('/')
  if (rest.length === 0) return `docker.io/library/${name}`
  return /[.:]/.test(first) || first === 'localhost' ? name : `docker.io/${name}`
}
