/** A package of the image, for the bill of materials. */
export interface SbomPackage {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** In hex, of the published archive. */
  readonly sha512?: string
  /** Names and versions (`name@version`) of the packages that it depends on. */
  readonly dependsOn: readonly string[]
}

/** What a bill of materials lists. */
export interface SbomInput {
  readonly project: SbomPackage
  readonly packages: readonly SbomPackage[]
  /** The base image and its digest, when there is one. */
  readonly base?: { readonly name: string; readonly digest: string }
  /** RFC 3339. */
  readonly created: string
  /** Makes the document's namespace unique: the digest of the image. */
  readonly digest: string
}

type SpdxPackage = Readonly<Record<string, unknown>> & { readonly SPDXID: string }

/** An SPDX 2.3 document: the project, its production dependencies and the base image. */
export function createSpdx({ project, packages, base, created, digest }: SbomInput): object {
  const baseId = 'SPDXRef-BaseImage'
  const listed: SpdxPackage[] = [project, ...packages].map(npmPackage)
  const ids = new Set(listed.map(each => each.SPDXID))
  const relationships = [
    relation('SPDXRef-DOCUMENT', 'DESCRIBES', idOf(project)),
    ...[project, ...packages].flatMap(each =>
      each.dependsOn
        .map(name => spdxId(name))
        .filter(id => ids.has(id))
        .map(id => relation(idOf(each), 'DEPENDS_ON', id)),
    ),
    ...(base ? [relation(idOf(project), 'DESCENDANT_OF', baseId)] : []),
  ]
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${project.name}@${project.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/coxswain/${encodeURIComponent(project.name)}-${digest.replace(':', '-')}`,
    creationInfo: { created, creators: ['Tool: coxswain'] },
    packages: [...listed, ...(base ? [imagePackage(base, baseId)] : [])],
    relationships,
  }
}

const relation = (spdxElementId: string, relationshipType: string, relatedSpdxElement: string) => ({
  spdxElementId,
  relationshipType,
  relatedSpdxElement,
})

function npmPackage(each: SbomPackage): SpdxPackage {
  const { name, version, license, sha512 } = each
  return {
    SPDXID: idOf(each),
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license !== undefined && /^[\w.+() -]+$/.test(license) ? license : 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(sha512 !== undefined && { checksums: [{ algorithm: 'SHA512', checksumValue: sha512 }] }),
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`,
      },
    ],
  }
}

function imagePackage(
  { name, digest }: { readonly name: string; readonly digest: string },
  id: string,
): SpdxPackage {
  return {
    SPDXID: id,
    name,
    versionInfo: digest,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    checksums: [{ algorithm: 'SHA256', checksumValue: digest.replace('sha256:', '') }],
    primaryPackagePurpose: 'CONTAINER',
  }
}

const idOf = ({ name, version }: Pick<SbomPackage, 'name' | 'version'>) => spdxId(`${name}@${version}`)

/** Letters, digits, `.` and `-` are allowed; others are written as their code, so two names never share an id. */
const spdxId = (text: string) =>
  `SPDXRef-Package-${text.replace(/[^A-Za-z0-9.]/g, char => `-${char.codePointAt(0)!.toString(16)}-`)}`
