/** Words of people who want an image that is not there, in a part of its name or in its tag. */
const absent = /(^|[-_.])(non[-_]?existent|(does-?not|doesnt|not)-?exists?|no-?such-\w+|invalid)($|[-_.])/
/** The tag of people who want just that. */
const absentTag = '404'

/**
 * What a registry would answer for an image that is called, or tagged, as if it did not exist; undefined for others. The
 * text is that of containerd, which kubelets pass on.
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
