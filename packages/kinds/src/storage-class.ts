interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}

interface ClassLike {
  readonly metadata: {
    readonly name: string
    readonly creationTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** Marks the StorageClass of claims that name none. */
export const defaultStorageClassAnnotation = 'storageclass.kubernetes.io/is-default-class'
const defaultAnnotations = [defaultStorageClassAnnotation, 'storageclass.beta.kubernetes.io/is-default-class']

/** On claims and volumes: the name of their StorageClass, from before there was a field. It takes precedence. */
export const betaStorageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** Whether a StorageClass is marked as the default. */
export function isDefaultStorageClass({ metadata }: Annotated): boolean {
  return defaultAnnotations.some(name => metadata?.annotations?.[name] === 'true')
}

/** The StorageClass of claims that name none: the newest that is marked, of those the first by name. */
export function findDefaultStorageClass<C extends ClassLike>(classes: readonly C[]): C | undefined {
  const time = ({ metadata }: C) => Date.parse(metadata.creationTimestamp ?? '')
  return classes
    .filter(isDefaultStorageClass)
    .sort((a, b) => time(b) - time(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

/** The StorageClass that a claim or volume names; undefined when it leaves the choice to the cluster. */
export function storageClassNameOf({
  metadata,
  spec,
}: Annotated & { readonly spec?: { readonly storageClassName?: string } }): string | undefined {
  return metadata?.annotations?.[betaStorageClassAnnotation] ?? spec?.storageClassName
}
