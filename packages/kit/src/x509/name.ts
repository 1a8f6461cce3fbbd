import { type DerElement, derTags, readDerText, readObjectIdentifier, readWithin } from './der.ts'

/** The subject of a certificate. Kubernetes reads the common name as the user and the organizations as the groups. */
export interface X509Name {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The subject's uid attribute (1.3.6.1.4.1.57683.2). */
  readonly uid?: string
}

/** The attributes of a name that are looked at. */
export const nameAttributes = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  uid: '1.3.6.1.4.1.57683.2',
} as const

/** As Go's `pkix.Name` reads it: the last common name counts, organizations in their order. Undefined when it is malformed. */
export function readX509Name(name: DerElement | undefined): X509Name | undefined {
  const sets = readWithin(name, derTags.sequence)
  if (!sets) return undefined
  let commonName = ''
  let uid: string | undefined
  const organizations: string[] = []
  for (const set of sets) {
    const attributes = readWithin(set, derTags.set)
    if (!attributes) return undefined
    for (const attribute of attributes) {
      const [type, value] = readWithin(attribute, derTags.sequence) ?? []
      if (type?.tag !== derTags.objectIdentifier || !value) return undefined
      const oid = readObjectIdentifier(type.content)
      if (oid === nameAttributes.commonName) commonName = readDerText(value)
      else if (oid === nameAttributes.organization) organizations.push(readDerText(value))
      else if (oid === nameAttributes.uid) uid = readDerText(value)
    }
  }
  return { commonName, organizations, ...(uid !== undefined && { uid }) }
}
